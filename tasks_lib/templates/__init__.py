"""Templates: the only door to Jinja; sandboxed, strict, bounded in work and size.

- `templates`: compiled once, rendered for each sample.
- `sandbox`, `filters`, `undefined`: the environments, what templates can do, and can not find.
- `meter`, `metering`, `sizes`: how much work one rendering may do, how it is counted, and how
  much of it is reckoned before it is done.
- `nulls`: empty cells that come out as `None`.
"""

from tasks_lib.templates.nulls import noting_nulls
from tasks_lib.templates.templates import Template, TemplateSource, compile_template, literal

__all__ = ["Template", "TemplateSource", "compile_template", "literal", "noting_nulls"]
