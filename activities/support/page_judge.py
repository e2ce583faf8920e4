"""Judges answers beside what the survey and the store know of their pages."""

from activities.support.attempt import RouteAttempt
from quire.contracts.judgement import Judgement
from quire.contracts.stored import PageSurvey, StoredAnswer
from quire.domain.document.transcription import PageAnswer
from quire.domain.errors import QuireError
from quire.domain.judgement.judge import judge_answer, judge_by_ocr, judgement_of
from quire.ports import Store
from quire.store.surveys import SurveyedTexts


class PageJudge:
    """Knows the text layers of pages; surveys and answers are in the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts = SurveyedTexts(store)

    async def context(self, attempt: RouteAttempt) -> dict[int, str]:
        """What people can see of the text of the page's neighbours."""
        brief, page = attempt.brief, attempt.request.page
        first = max(1, page - brief.reading.context_radius)
        last = min(brief.page_count, page + brief.reading.context_radius)
        around = await self._texts.surveys(brief.sha256, first, last)
        return {number: survey.visible_text for number, survey in around.items()}

    async def judge(
        self, attempt: RouteAttempt, answer: PageAnswer
    ) -> tuple[PageAnswer, Judgement]:
        """The answer with the text that counts; `AttemptFailed` where it is not the page's."""
        survey = await self._survey(attempt)
        judged, judgement = judge_answer(attempt.route, answer, survey, attempt.brief.reading)
        if judgement.confidence is None and attempt.ocr_key is not None:
            # There is no layer to compare the text with; perhaps OCR has read the page before.
            ocr = await self._read_by_ocr(attempt.ocr_key)
            judgement = (ocr and judge_by_ocr(judged.text, ocr)) or judgement
        return judged, judgement

    async def _read_by_ocr(self, key: str) -> StoredAnswer | None:
        try:
            data = await self._store.get(key)
        except (OSError, QuireError):
            # The answer is paid for: it is not lost because of what is only compared with it.
            return None
        return None if data is None else StoredAnswer.model_validate_json(data)

    async def with_judgement(self, attempt: RouteAttempt, stored: StoredAnswer) -> StoredAnswer:
        """The stored answer; one of before was stored without a judgement."""
        if stored.judgement is not None:
            return stored
        judgement = judgement_of(stored, await self._survey(attempt))
        return stored.model_copy(update={"judgement": judgement})

    async def _survey(self, attempt: RouteAttempt) -> PageSurvey | None:
        page = attempt.request.page
        return (await self._texts.surveys(attempt.brief.sha256, page, page)).get(page)
