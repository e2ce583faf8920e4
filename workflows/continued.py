"""Whether an earlier run of a workflow handed over to this one."""

from temporalio import workflow


def continues_a_run() -> bool:
    """The server also names an earlier run where it repeats a start, by a retry policy or a
    schedule: such a run has the start's own input."""
    info = workflow.info()
    return info.continued_run_id is not None and info.attempt == 1 and not info.cron_schedule
