"""A doubtful page that another model is to read too. Pure."""

from collections.abc import Iterable, Sequence

from quire.contracts.judgement import DoubtPolicy
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import PageRecord
from quire.contracts.routing import Route
from quire.domain.document.doubt import TIME_TO_READ_AGAIN_S, is_doubtful


def barred_from_second_opinion(
    routes: Sequence[Route],
    record: PageRecord,
    barred: Iterable[int],
    doubt: DoubtPolicy | None,
    seconds_left: float,
) -> set[int] | None:
    """The routes of which none is to read a doubtful page again; None where it stays as it is,
    since nobody asked, no other model is left or no time."""
    below = doubt.below if doubt and doubt.then == "reread" else None
    if not is_doubtful(record.source, record.confidence, below):
        return None
    # OCR is no better opinion than a model's, and no route is asked twice.
    kept_away = {i for i, route in enumerate(routes) if route.provider == LOCAL_PROVIDER}
    kept_away |= {*barred} if record.read_by is None else {*barred, record.read_by}
    if len(kept_away) == len(routes) or seconds_left < TIME_TO_READ_AGAIN_S:
        return None
    return kept_away
