"""What a continued run has paid for already."""

from tasks_lib.errors import SampleError
from tasks_lib.models.ledger import entries
from tasks_lib.results.folder import read_record
from tasks_lib.runs.run import Run


def count_prior_spending(run: Run) -> None:
    """Let the spending of a continued run begin with what it paid before.

    That is what `run.json` says of an end that was written down; after a kill it is counted
    again from the replies of the run in the ledger, at the prices of today. A run that is new
    has paid nothing.

    Raises:
        StoreError: `run.json` or the ledger can't be read.
    """
    if not run.plan.settings.resume:
        return
    record = read_record(run.folder)
    paid = record["calls"].get("cost_usd")
    if record["finished_at"] is not None and paid is not None:
        run.models.spending.usd = paid
    elif run.plan.prices:
        run.loop.run(_counted(run))


async def _counted(run: Run) -> None:
    models = run.models
    for entry in entries(run.plan.settings.store, run.plan.run_id):
        if entry.model_key not in run.plan.evaluation.models:
            continue
        model = models.model(entry.model_key)
        try:
            output = model.adapter.reply(entry.body, model.info)
        except SampleError:
            continue  # an adapter that is another today finds it malformed
        models.spending.pay(entry.model_key, output, entry.request, entry.body)
