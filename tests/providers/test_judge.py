"""What counts as the text of a page, and the traps of calling it a loop."""

import time

import pytest

from quire.contracts.codes import FailureKind
from quire.domain.errors import AttemptFailed
from quire.providers.judge import accept, loops, strip_fence, wants_more_room
from quire.providers.transport import ModelReply

SENTENCE = "The committee approved the budget for the coming year."
PAGE = "\n".join(f"{SENTENCE} Item {number} costs {number * 7} euros." for number in range(60))

LOOPS = {
    "a sentence over and over": f"Intro.\n{SENTENCE} " + f"{SENTENCE} " * 60,
    "a line over and over": "Title\n" + "the same line again\n" * 120,
    "two lines in turn": PAGE + "\nfirst line here.\nand the second line here.\n" * 60,
    "a loop cut in the middle": ("and so on and so forth, " * 200)[:-7],
    "one word": "Total: " + "amount " * 400,
    "a paragraph": "Head\n" + (SENTENCE + " ") * 6 * 16,
    "endless dots": "Chapter one " + "." * 4000,
    "endless dashes in a table": "| a | b |\n|" + "---|" * 1000,
    "endless empty rows": "| a | b |\n|---|---|\n" + "|   |   |\n" * 400,
    "numbers without end": "Sum: " + "0 " * 3000,
    "a loop and then an end": "Title\n" + f"{SENTENCE}\n" * 60 + "The end.",
    "not Latin": "見出し\n" + "これは繰り返しです。 " * 150,
}

TABLE_ROW = "| Passed | Passed | Passed | 0 | 0 |\n"
NOT_LOOPS = {
    "a page of prose": PAGE,
    "a table of equal rows": "| a | b | c | d | e |\n|---|---|---|---|---|\n" + TABLE_ROW * 60,
    "a table of zeros": "| x | y |\n|---|---|\n" + "| 0 | 0 |\n" * 70,
    "an empty form": "| Name | Sign |\n|---|---|\n" + "|   |   |\n" * 50,
    "a table of contents": "".join(f"Chapter {n} {'.' * 90} {n * 3}\n" for n in range(1, 60)),
    "leaders at the end": "Signature " + "." * 120,
    "ruled lines": ("_" * 80 + "\n") * 40,
    "a long list": "".join(f"- item number {n}\n" for n in range(300)),
    "a list of equal items": "- not applicable\n" * 60,
    "a sheet of labels": "Acme Ltd, 12 High Street, London\n" * 65,
    "address labels with full stops": "Acme Corp.\n12 High Street\nLondon.\n\n" * 30,
    "a hex dump": "".join(f"{n * 16:08x} {'00 ' * 16}\n" for n in range(60)),
    "a refrain": ("La la la la la, sang the man.\n" * 4 + "And then a verse of his own.\n") * 8,
    "a multiplication table": "\n".join(
        " ".join(str(a * b) for a in range(1, 21)) for b in range(1, 21)
    ),
    "a binary matrix": ("0 " * 40 + "\n") * 60,
    "short": "ok",
    "nothing": "",
}


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_loop_is_found(text: str) -> None:
    assert loops(text)
    with pytest.raises(AttemptFailed) as caught:
        accept(ModelReply(text))
    assert caught.value.kind is FailureKind.OUTPUT


@pytest.mark.parametrize("text", NOT_LOOPS.values(), ids=NOT_LOOPS)
def test_page_is_not_taken_for_a_loop(text: str) -> None:
    assert not loops(text)


def test_judging_is_quick_even_on_long_texts() -> None:
    began = time.perf_counter()
    for text in ("ab" * 50_000, "a" * 100_000, PAGE * 20):
        loops(text)
    assert time.perf_counter() - began < 1.0


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (ModelReply(""), FailureKind.BAD_BODY),
        (ModelReply(" \n\t"), FailureKind.BAD_BODY),
        (ModelReply("```\n\n```"), FailureKind.BAD_BODY),
        (ModelReply("half a pa", truncated=True), FailureKind.OUTPUT),
        (ModelReply("", truncated=True), FailureKind.OUTPUT),
        (ModelReply("some text", refused="no"), FailureKind.CONTENT),
        (ModelReply("", refused="no", truncated=True), FailureKind.CONTENT),
    ],
)
def test_no_text(reply: ModelReply, kind: FailureKind) -> None:
    with pytest.raises(AttemptFailed) as caught:
        accept(reply)
    assert caught.value.kind is kind


def test_good_text_passes_unchanged() -> None:
    assert accept(ModelReply(PAGE)) == PAGE


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("```markdown\n# A\n\nb\n```", "# A\n\nb"),
        ("```md\nA\n```\n\n", "A"),
        ("```\nA\nB\n```", "A\nB"),
        ("```markdown\nA\n```python\nx = 1\n```\nB\n```", "A\n```python\nx = 1\n```\nB"),
        # A page that is code, or holds code, keeps its fences.
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("```\na\n```\ntext\n```\nb\n```", "```\na\n```\ntext\n```\nb\n```"),
        ("Text\n```markdown\nA\n```", "Text\n```markdown\nA\n```"),
        ("```markdown\nA\n```\nText", "```markdown\nA\n```\nText"),
        ("  indented is kept inside\n  too", "indented is kept inside\n  too"),
    ],
)
def test_fences(text: str, stripped: str) -> None:
    assert strip_fence(text) == stripped


def test_more_room_only_where_it_helps() -> None:
    assert wants_more_room(ModelReply("half", truncated=True, capped_by_us=True))
    assert not wants_more_room(ModelReply("half", truncated=True))
    assert not wants_more_room(
        ModelReply("the same again " * 500, truncated=True, capped_by_us=True)
    )
    assert not wants_more_room(ModelReply("whole"))
