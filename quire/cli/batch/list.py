"""`batch list`: the batches, newest first."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from quire.cli.options import AsJson
from quire.cli.output import Exit, say
from quire.cli.run_command import command_settings, run
from quire.cli.screen import screen
from quire.cli.table import Column, fitting_table

COLUMNS = (
    Column("batch_id", 0, at_least=22),
    Column("status", 1),
    Column("documents", 2, right=True),
    Column("failed", 3, right=True),
    Column("cost", 4, right=True),
    Column("age", 5),
    Column("user_id", 6, at_least=12),
    Column("name", 7, at_least=12, cut=True),
)


def list_command(
    context: typer.Context,
    user: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> Exit:
    """The batches, newest first."""

    async def work() -> Exit:
        from quire.cli.job_table import short_time
        from quire.jobs.batch.list_batches import list_batches
        from quire.jobs.session import open_jobs

        async with open_jobs(command_settings(), roles=("workflows",)) as jobs:
            found = await list_batches(jobs, user=user, limit=limit)
        if as_json:
            rows = [asdict(row) for row in found.rows]
            context.obj.print_json({"batches": rows, "more": found.more})
            return Exit.DONE
        words = [
            {
                "batch_id": row.batch_id,
                "status": row.status,
                "documents": "" if row.documents is None else f"{row.documents:,}",
                "failed": "" if row.failed is None else f"{row.failed:,}",
                "cost": "" if row.cost_usd is None else f"${row.cost_usd:.4f}",
                "age": short_time(row.age_s),
                "user_id": row.user_id or "-",
                "name": row.name or "-",
            }
            for row in found.rows
        ]
        if not words:
            screen().print("No batches.")
        elif sys.stdout.isatty():
            screen().print(fitting_table(COLUMNS, words, screen().width))
        else:
            lines = ["\t".join(column.name for column in COLUMNS)]
            lines += ["\t".join(row[column.name] for column in COLUMNS) for row in words]
            print("\n".join(lines))  # noqa: T201
        if found.more:
            say(f"more exist: --limit {2 * limit}")
        return Exit.DONE

    return run(work())
