"""The better one of a page's texts: its text layer, or what was read from its picture."""

from collections.abc import Callable
from dataclasses import dataclass, field

from quire.contracts.judgement import Choice, Judgement
from quire.contracts.stored import PageSurvey
from quire.domain.document.transcription import PageAnswer
from quire.domain.judgement.agreement import compare
from quire.domain.judgement.language import is_language
from quire.domain.judgement.layer import is_garbage, is_hidden
from quire.domain.judgement.legibility import confidence_of, is_legible, read_confidence
from quire.domain.judgement.pictures import WELL_READ_LINE, add_pictures, turn_left
from quire.domain.judgement.script import unread_script
from quire.domain.judgement.words import Words, share_found, words_of

# Two texts of a page of which one has so much of the other are the same text.
_SAME = 0.8
_WELL_READ = 0.85


@dataclass(frozen=True)
class Chosen:
    """A page's text, and what is to be said of it; or why the page has none."""

    text: str
    judgement: Judgement = field(default_factory=Judgement)
    unreadable: str = ""


class _Page:
    """The two texts of a page, and what the rules ask of them."""

    def __init__(self, survey: PageSurvey, layer: str, answer: PageAnswer) -> None:
        self.survey, self.layer, self.answer = survey, layer, answer
        ours, theirs = words_of(layer), words_of(answer.text)
        self.layer_letters, self.read_letters = ours.letters, theirs.letters
        # How much of the layer was read, and how much of what was read the layer has.
        self.layer_found = share_found(ours, theirs)
        self.read_found = share_found(theirs, ours) if theirs.letters else 0.0
        self.layer_is_language = is_language(ours)
        self.read_is_language = is_language(theirs)
        # Where a layer has the page's text, the ink may be a picture's.
        ink = None if ours.letters else survey.ink
        self.confidence = read_confidence(answer.score, theirs.letters, ink)

    @property
    def well_read(self) -> Words:
        """Without the lines that OCR was not sure of, where it says so."""
        lines = [line.text for line in self.answer.lines if line.score >= WELL_READ_LINE]
        return words_of("\n".join(lines) if lines else self.answer.text)

    @property
    def legible(self) -> bool:
        return bool(self.read_letters) and is_legible(self.confidence)

    def keep_layer(self, why: str, confidence: float | None) -> Chosen:
        """The layer, with what was read in pictures that it lacks."""
        pictures = [turn_left(area, self.answer.turn) for area in self.survey.layer.pictures]
        text, added = add_pictures(self.layer, pictures, self.answer.lines)
        if added:
            why += f"; {added} from pictures without a text layer were added"
        choice = Choice(kept="both" if added else "layer", why=why)
        return Chosen(text, self._judged(choice, confidence))

    def keep_reading(self, why: str) -> Chosen:
        return Chosen(self.answer.text, self._judged(Choice(kept="ocr", why=why), self.confidence))

    def keep_nothing(self) -> Chosen:
        score = self.answer.score
        if not self.read_letters or score is None:
            return Chosen("", unreadable="no words were found")
        if is_legible(confidence_of(score)):
            return Chosen("", unreadable="hardly any of what is on it was found")
        return Chosen("", unreadable=f"the score of what was found is {score:.2f}")

    def _judged(self, choice: Choice, confidence: float | None) -> Judgement:
        both = self.layer_letters and self.read_letters and not is_garbage(self.survey)
        return Judgement(
            confidence=None if confidence is None else round(confidence, 3),
            disagreement=compare(self.layer, self.answer.text) if both else None,
            choice=choice,
        )


def choose_text(survey: PageSurvey, layer: str, answer: PageAnswer) -> Chosen:
    """The better one by the first rule that applies, for a page that the engine on this machine
    has read."""
    page = _Page(survey, layer, answer)
    for rule in _RULES:
        chosen = rule(page)
        if chosen is not None:
            return chosen
    return _they_differ(page)


def _no_layer(page: _Page) -> Chosen | None:
    if page.layer_letters:
        return None
    return page.keep_reading("there is no text layer") if page.legible else page.keep_nothing()


def _garbage_layer(page: _Page) -> Chosen | None:
    if not is_garbage(page.survey):
        return None
    return (
        page.keep_reading("the text layer is unreadable") if page.legible else page.keep_nothing()
    )


def _unknown_script(page: _Page) -> Chosen | None:
    script = unread_script(page.layer)
    if not script:
        return None
    # Nothing that was read beside it could be told from guesses.
    why = f"the OCR engine does not read {script}"
    return Chosen(page.layer, Judgement(choice=Choice(kept="layer", why=why)))


def _illegible_picture(page: _Page) -> Chosen | None:
    if page.legible:
        return None
    if not is_hidden(page.survey):
        return page.keep_layer("nothing could be read from its picture", None)
    if page.layer_is_language:
        return page.keep_layer("its picture could not be read", page.read_found)
    return page.keep_nothing()


def _layer_has_it_all(page: _Page) -> Chosen | None:
    if page.read_found < _SAME:
        return None
    why = f"the text layer has {page.read_found:.0%} of what OCR read"
    return page.keep_layer(why, page.read_found)


def _reading_has_more(page: _Page) -> Chosen | None:
    if page.layer_found < _SAME:
        return None
    with_pictures = page.keep_layer("OCR read all of the text layer", page.confidence)
    if share_found(page.well_read, words_of(with_pictures.text)) >= _SAME:
        return with_pictures
    return page.keep_reading("OCR read all of the text layer, and more")


def _they_differ(page: _Page) -> Chosen:
    share = f"only {page.read_found:.0%} of what OCR read is in the text layer"
    well_read = page.confidence is not None and page.confidence >= _WELL_READ
    if page.layer_is_language and not (is_hidden(page.survey) and well_read):
        return page.keep_layer(f"{share}, which reads as language", page.read_found)
    if page.read_is_language or well_read:
        return page.keep_reading(f"{share}, which OCR read well")
    if is_hidden(page.survey):
        return page.keep_reading(f"{share}, which is invisible")
    return page.keep_layer(f"{share}, and neither reads as language", page.read_found)


_RULES: tuple[Callable[[_Page], Chosen | None], ...] = (
    _no_layer,
    _garbage_layer,
    _unknown_script,
    _illegible_picture,
    _layer_has_it_all,
    _reading_has_more,
)
