"""Whether a text layer can be believed to be the page's text."""

from quire.contracts.stored import PageSurvey
from quire.domain.judgement.language import is_language
from quire.domain.judgement.words import words_of

# As the survey's rules have it: more than this is no text.
_BAD, _ODD, _HIDDEN = 0.1, 0.4, 0.5
# Fewer letters are a stamp or a page number.
_SOME_LETTERS = 20


def is_garbage(survey: PageSurvey) -> bool:
    """Whether its letters cannot be what is on the page."""
    facts = survey.layer
    return facts.bad > _BAD or facts.odd > _ODD or facts.traced


def is_hidden(survey: PageSurvey) -> bool:
    """Whether nobody sees most of it, as with the text of an OCR program beneath a scan."""
    return survey.layer.hidden >= _HIDDEN


def says_nothing(survey: PageSurvey) -> bool:
    """Whether only the picture of the page can tell what is on it."""
    return words_of(survey.text).letters < _SOME_LETTERS or is_garbage(survey)


def is_comparable(survey: PageSurvey) -> bool:
    """Whether a reading that differs from the layer is more likely wrong than the layer is."""
    if says_nothing(survey):
        return False
    return not is_hidden(survey) or is_language(words_of(survey.text))
