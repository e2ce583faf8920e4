"""What an answer is worth, beside all that is known of its page."""

from dataclasses import replace

from quire.contracts.judgement import Choice, Judgement
from quire.contracts.money import Paid
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.page import Classification
from quire.contracts.reading import ReadingOptions
from quire.contracts.stored import PageSurvey, StoredAnswer
from quire.domain import errors
from quire.domain.document.keys import hyphens_of, reading_id
from quire.domain.document.prompt import DEFAULT_SYSTEM_PROMPT
from quire.domain.document.transcription import PageAnswer
from quire.domain.judgement.agreement import agreement, compare, is_unrelated
from quire.domain.judgement.choice import choose_text
from quire.domain.judgement.layer import is_comparable, is_hidden

_WELL_READ = 0.85


def judge_answer(
    route: str, answer: PageAnswer, survey: PageSurvey | None, reading: ReadingOptions
) -> tuple[PageAnswer, Judgement]:
    """The answer with the text that counts, and how far that can be believed; `AttemptFailed` if
    the page cannot be read, or if the answer is another page's."""
    survey = survey or PageSurvey(page=1, classification=Classification.SCANNED, reason="")
    if route.startswith(f"{LOCAL_PROVIDER}:"):
        layer = survey.text_with(hyphens_of(reading_id(reading)))
        chosen = choose_text(survey, layer, answer)
        if chosen.unreadable:
            raise errors.page_unreadable(route, chosen.unreadable)
        return replace(answer, text=chosen.text), chosen.judgement
    # Nobody sees a hidden layer: it may be another text than the page's. And who gives instructions
    # of their own may want another text than the page's.
    told = reading.instructions.strip() or reading.system_prompt != DEFAULT_SYSTEM_PROMPT
    comparable = is_comparable(survey) and not is_hidden(survey)
    if comparable and not told and is_unrelated(survey.visible_text, answer.text):
        usage = answer.usage
        paid = Paid.of(usage.input_tokens, usage.output_tokens, answer.cost_usd)
        raise errors.answer_unrelated(route, paid)
    return answer, judge_model(survey, answer.text)


def judge_model(survey: PageSurvey, reading: str) -> Judgement:
    """A model's reading beside the layer, where that can be believed; the model's is kept."""
    if not is_comparable(survey):
        return Judgement(choice=Choice(kept="model", why="there is no text layer to compare with"))
    found = agreement(survey.text, reading)
    return Judgement(
        confidence=round(found, 3),
        disagreement=compare(survey.text, reading),
        choice=Choice(kept="model", why=f"it has {found:.0%} of the text layer"),
    )


def judge_by_ocr(reading: str, ocr: StoredAnswer) -> Judgement | None:
    """A model's reading of a page without a layer, beside what OCR has read there before; None
    where OCR was not sure of itself."""
    if ocr.judgement is None or (ocr.judgement.confidence or 0.0) < _WELL_READ:
        return None
    found = agreement(ocr.text, reading)
    why = f"it has {found:.0%} of what OCR read before"
    return Judgement(confidence=round(found, 3), choice=Choice(kept="model", why=why))


def judgement_of(stored: StoredAnswer, survey: PageSurvey | None) -> Judgement:
    """What was found when the answer was stored; of one from before, what can be found now."""
    if stored.judgement is not None:
        return stored.judgement
    if survey is None or stored.provider == LOCAL_PROVIDER:
        return Judgement()
    return judge_model(survey, stored.text)
