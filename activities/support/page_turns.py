"""Which way up a scanned page lies, before it is sent to a vendor's model."""

from collections import OrderedDict

from temporalio import activity

from activities.support.attempt import RouteAttempt
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Classification
from quire.domain.document.transcription import PageImage
from quire.domain.errors import AttemptFailed
from quire.domain.judgement.layer import says_nothing
from quire.ports import Store, TurnFinder
from quire.store.surveys import SurveyedTexts

_KEPT = 10_000
# A glance takes a quarter of a second, but other pages may be before this one.
_WITHIN_S = 20.0
# Of the attempt's time: a page on its side is better than none.
_SHARE = 0.25
# An engine that cannot be started is not tried for every page.
_FAILURES = 3


class PageTurns:
    """Asks the engine on this machine, if there is one, once a page; remembers what it said."""

    def __init__(self, store: Store, finder: TurnFinder | None) -> None:
        self._texts = SurveyedTexts(store)
        self._finder = finder
        self._known: OrderedDict[tuple[str, int], int] = OrderedDict()
        self._failures = 0

    async def turn(self, attempt: RouteAttempt, image: PageImage) -> int:
        """By how many quarters to the left the page must be turned; 0 where nobody can say."""
        page = (attempt.brief.sha256, attempt.request.page)
        if page in self._known:
            return self._known[page]
        if self._finder is None or attempt.provider == LOCAL_PROVIDER:
            return 0
        if self._failures >= _FAILURES or not await self._is_bare_scan(*page):
            return 0
        try:
            limit = min(_WITHIN_S, attempt.request.seconds * _SHARE)
            turn = await self._finder.find_turn(image, limit)
        except AttemptFailed as failed:
            self._failures += 1
            facts = {"page": attempt.request.page, "error_code": failed.info.code.value}
            activity.logger.warning("turn_not_found", extra=facts)
            return 0
        self._failures = 0
        self._known[page] = turn
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return turn

    async def _is_bare_scan(self, sha256: str, page: int) -> bool:
        survey = (await self._texts.surveys(sha256, page, page)).get(page)
        if survey is None or survey.classification is not Classification.SCANNED:
            return False
        return says_nothing(survey)
