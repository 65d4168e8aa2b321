"""Results on disk: written part by part, read back as data frames.

- `folder`: where everything of a run lies; `files`: how it gets there whole or not at all;
  `lock`: who works on a run.
- `schemas`: the columns of the tables; `score_kinds`: what kind of column a score is stored in.
- `parquet`: one Parquet file (`arrow` keeps its library light); `samples` and `scores`: the parts
  of these tables; `score_records`: score rows as Python values; `result_part`: all that is stored
  of some samples.
- `metric_rows`: from scores to rows of the metrics table; `error_text`: what an error row says.
- `load`: a stored run as data frames, for users and reports.
- `stored_samples`: solved samples of a run, scored again; `earlier_results`: results as datasets.
- `task_result`: task result logs, written and read.
"""

from tasks_lib.results.load import StoredRun, load_run

__all__ = ["StoredRun", "load_run"]
