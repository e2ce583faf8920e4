"""What a run takes over from a finished run of its job."""

from collections.abc import Iterable

from quire.contracts.carried import Carried
from quire.contracts.page import PageRecord
from quire.contracts.steps import PreviousReceipt


def take_over(carried: Carried, previous: PreviousReceipt) -> Carried:
    """The surveyed document with the pages of its finished run, for the next version."""
    own_routes = len(carried.plan.chain.routes)
    return carried.model_copy(
        update={
            "records": renumbered(previous.records, own_routes),
            "again": renumbered(previous.again, own_routes),
            "past_routes": previous.routes,
            "version": previous.version + 1,
        }
    )


def renumbered(records: Iterable[PageRecord], offset: int) -> tuple[PageRecord, ...]:
    """Records whose route numbers stand behind the `offset` routes of a new chain."""
    return tuple(
        record.model_copy(
            update={
                "attempts": tuple(
                    note._replace(route=note.route + offset) for note in record.attempts
                )
            }
        )
        for record in records
    )
