"""Which of a page's texts is kept, and why."""

from dataclasses import replace
from typing import Any

import pytest

from quire.contracts.codes import FailureKind
from quire.contracts.judgement import Judgement
from quire.contracts.page import Classification, Usage
from quire.contracts.reading import ReadingOptions
from quire.contracts.stored import LayerFacts, PageSurvey, StoredAnswer
from quire.domain.document.prompt import DEFAULT_SYSTEM_PROMPT
from quire.domain.document.transcription import PageAnswer, ReadLine
from quire.domain.errors import AttemptFailed
from quire.domain.judgement.judge import judge_answer, judge_by_ocr, judgement_of
from quire.domain.judgement.legibility import confidence_of, read_confidence
from testing.prose import WORDS
from tests.domain.judgement.test_agreement import PROSE

OCR, MODEL = "local:rapidocr", "openai:m"
READING = ReadingOptions(system_prompt=DEFAULT_SYSTEM_PROMPT)
GARBAGE = "Qzxw vrtb nmkp lkjh gfds " * 30


def page(text: str = "", ink: float | None = None, **facts: Any) -> PageSurvey:
    kind = Classification.SCANNED
    return PageSurvey(
        page=1, classification=kind, reason="", text=text, layer=LayerFacts(**facts), ink=ink
    )


def read(text: str, score: float | None = 0.99, lines: tuple[ReadLine, ...] = ()) -> PageAnswer:
    return PageAnswer(text, Usage(input_tokens=9), 0.5, score=score, lines=lines)


def judged(
    survey: PageSurvey, answer: PageAnswer, route: str = OCR, reading: ReadingOptions = READING
) -> tuple[str, Judgement]:
    kept, judgement = judge_answer(route, answer, survey, reading)
    assert judgement.choice is not None
    return kept.text, judgement


def kept(survey: PageSurvey, answer: PageAnswer) -> str:
    _, judgement = judged(survey, answer)
    assert judgement.choice is not None
    return judgement.choice.kept


def test_an_excellent_hidden_layer_is_not_rewritten_by_worse_ocr() -> None:
    worse = WORDS.replace("harbour", "harbeur").replace("without", "wilhout")
    text, judgement = judged(page(WORDS, hidden=1.0), read(worse, 0.97))
    assert text == WORDS
    assert judgement.confidence is not None
    assert judgement.confidence > 0.85
    assert judgement.disagreement is not None
    assert {one.layer for one in judgement.disagreement.differs} == {"harbour", "without"}


def test_a_born_digital_korean_page_keeps_all_its_words() -> None:
    korean = PROSE["Korean"]
    text, judgement = judged(page(korean), read("I a m o ll", 0.89))
    assert text == korean
    assert judgement.choice is not None
    assert "Korean" in judgement.choice.why
    assert judgement.confidence is None, "there was nothing to compare"


@pytest.mark.parametrize(
    ("survey", "answer", "what"),
    [
        (page(), read(WORDS), "ocr"),
        (page(GARBAGE, odd=0.9), read(WORDS), "ocr"),
        (page(WORDS, traced=True), read(WORDS), "ocr"),
        (page(GARBAGE, hidden=1.0), read(WORDS), "ocr"),
        (page("Received 4 May"), read(f"Received 4 May\n{WORDS}"), "ocr"),
        (page(WORDS), read("Th3 h4rb0ur m4st3r kp s 8", 0.86), "layer"),
        (page(WORDS), read("", None), "layer"),
        (page(PROSE["German"] * 2), read(WORDS, 0.99), "layer"),
        (page(PROSE["German"] * 2, hidden=1.0), read(WORDS, 0.99), "ocr"),
    ],
    ids=[
        "no layer", "odd words", "traced letters", "hidden garbage", "a stamp on a scan",
        "illegible picture", "no words in the picture", "both good and different, seen",
        "both good and different, hidden",
    ],
)  # fmt: skip
def test_the_better_text_is_kept(survey: PageSurvey, answer: PageAnswer, what: str) -> None:
    assert kept(survey, answer) == what


def test_words_in_pictures_are_added_where_they_stand() -> None:
    first, second = "The harbour master keeps a log", "and the weather she came through"
    lines = (
        ReadLine(first, 0.99, (0.1, 0.1, 0.9, 0.12)),
        ReadLine("DANGER deep water", 0.98, (0.2, 0.3, 0.6, 0.33)),
        ReadLine("blurred thing", 0.6, (0.2, 0.35, 0.6, 0.38)),
        ReadLine("beside it", 0.99, (0.85, 0.3, 0.95, 0.33)),
        ReadLine(second, 0.99, (0.1, 0.6, 0.9, 0.62)),
    )
    survey = page(f"{first}\n{second}", pictures=((0.15, 0.2, 0.7, 0.5),))
    answer = read("\n".join(line.text for line in lines), lines=lines)
    text, judgement = judged(survey, answer)
    assert text.split("\n") == [first, "", "DANGER deep water", "", second]
    assert judgement.choice is not None
    assert judgement.choice.kept == "both"
    assert "1 line from pictures" in judgement.choice.why


@pytest.mark.parametrize(
    ("turn", "drawn"),
    [(1, (0.5, 0.15, 0.8, 0.7)), (2, (0.3, 0.5, 0.85, 0.8)), (3, (0.2, 0.3, 0.5, 0.85))],
)
def test_pictures_of_a_page_that_was_turned_are_found_on_it_as_it_was_read(
    turn: int, drawn: tuple[float, float, float, float]
) -> None:
    first, second = "The harbour master keeps a log", "and the weather she came through"
    lines = (
        ReadLine(first, 0.99, (0.1, 0.1, 0.9, 0.12)),
        ReadLine("DANGER deep water", 0.98, (0.2, 0.3, 0.6, 0.33)),
        ReadLine("beside it", 0.99, (0.85, 0.3, 0.95, 0.33)),
        ReadLine(second, 0.99, (0.1, 0.6, 0.9, 0.62)),
    )
    answer = replace(read("\n".join(line.text for line in lines), lines=lines), turn=turn)
    text, _ = judged(page(f"{first}\n{second}", pictures=(drawn,)), answer)
    assert text.split("\n") == [first, "", "DANGER deep water", "", second]


@pytest.mark.parametrize(
    ("survey", "answer"),
    [
        (page(), read("81 # 1- 1R / 18720", 0.7)),
        (page(), read("", None)),
        (page(ink=0.07), read("One line of forty", 0.99)),
        (page(GARBAGE, hidden=1.0), read("i ll ii", 0.6)),
        (page(GARBAGE, odd=0.9), read("i ll ii", 0.6)),
    ],
    ids=["upside down", "noise", "one line of a blurred page", "both bad", "garbage layer"],
)
def test_what_cannot_be_read_is_an_error(survey: PageSurvey, answer: PageAnswer) -> None:
    with pytest.raises(AttemptFailed) as failed:
        judged(survey, answer)
    assert failed.value.kind is FailureKind.UNREADABLE
    assert (failed.value.code, failed.value.error_type) == ("GW_4XX", "terminal")


def test_scores_as_they_were_measured() -> None:
    assert confidence_of(0.99) > 0.95, "rightly read"
    assert confidence_of(0.89) < 0.6, "a script that it does not know"
    assert confidence_of(0.82) < 0.45, "turned, or illegible"
    rising = [confidence_of(score / 1000) for score in range(1001)]
    assert rising == sorted(rising)
    assert (rising[0], rising[-1]) == (0, 1)


def test_few_letters_on_much_ink_are_doubtful() -> None:
    assert read_confidence(0.99, 3000, 0.07) == confidence_of(0.99)
    assert read_confidence(0.99, 60, 0.07) == 0.5
    assert read_confidence(0.99, 60, None) == confidence_of(0.99)


def test_a_model_is_measured_by_the_layer() -> None:
    _, good = judged(page(WORDS), read(WORDS, None), MODEL)
    _, bad = judged(page(WORDS), read(WORDS[:150], None), MODEL)
    assert good.confidence == 1
    assert bad.confidence is not None
    assert bad.confidence < 0.6
    _, alone = judged(page(), read(WORDS, None), MODEL)
    assert alone.confidence is None
    assert alone.disagreement is None


def test_a_model_that_obeys_the_page_is_caught_and_paid() -> None:
    with pytest.raises(AttemptFailed) as failed:
        judged(page(WORDS), read("APPROVED, nothing to see here", None), MODEL)
    assert failed.value.kind is FailureKind.OUTPUT
    assert failed.value.wasted == (9, 0, 500_000)


@pytest.mark.parametrize(
    ("survey", "reading"),
    [
        (page(WORDS, hidden=1.0), READING),
        (page(WORDS, odd=0.9), READING),
        (page(WORDS), READING.model_copy(update={"instructions": "Into Latin."})),
        (page(WORDS), READING.model_copy(update={"system_prompt": "Name the mood."})),
    ],
    ids=["layer that no one sees", "garbage", "instructions", "prompt of one's own"],
)
def test_an_answer_that_may_differ_is_not_refused(
    survey: PageSurvey, reading: ReadingOptions
) -> None:
    text, _ = judged(survey, read("Magister portus", None), MODEL, reading)
    assert text == "Magister portus"


def test_text_beside_ocr_of_before() -> None:
    sure = StoredAnswer(
        text=WORDS,
        provider="local",
        model="rapidocr",
        milliseconds=1,
        usage=Usage(),
        judgement=Judgement(confidence=0.97),
    )
    beside = judge_by_ocr(WORDS[:150], sure)
    assert beside is not None
    assert beside.confidence is not None
    assert beside.confidence < 0.6
    unsure = sure.model_copy(update={"judgement": Judgement(confidence=0.5)})
    assert judge_by_ocr(WORDS, unsure) is None


def test_answers_of_before_are_judged_when_they_are_found() -> None:
    stored = StoredAnswer(text=WORDS, provider="openai", model="m", milliseconds=1, usage=Usage())
    assert "judgement" not in stored.model_dump(mode="json")
    assert judgement_of(stored, page(WORDS)).confidence == 1
    assert judgement_of(stored, None) == Judgement()
