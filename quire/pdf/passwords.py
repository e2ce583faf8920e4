"""The forms under which a password may have locked a file."""

import stringprep
import unicodedata


def spellings(password: str) -> list[str]:
    """The password exactly as given, and as SASLprep makes it where that differs.

    Files of PDF 2.0 are locked with the prepared form: a writer that follows the standard has
    turned what the person typed into it. Blanks at the ends are kept by both.
    """
    prepared = saslprep(password)
    return [password] if prepared is None or prepared == password else [password, prepared]


def saslprep(text: str) -> str | None:
    """RFC 4013 with the tables of the standard library; None for what it forbids."""
    mapped = "".join(
        " " if stringprep.in_table_c12(char) else char
        for char in text
        if not stringprep.in_table_b1(char)
    )
    prepared = unicodedata.normalize("NFKC", mapped)
    if any(_forbidden(char) for char in prepared):
        return None
    right_to_left = [stringprep.in_table_d1(char) for char in prepared]
    if any(right_to_left) and not (
        right_to_left[0]
        and right_to_left[-1]
        and not any(stringprep.in_table_d2(char) for char in prepared)
    ):
        return None
    return prepared


def _forbidden(char: str) -> bool:
    return any(
        table(char)
        for table in (
            stringprep.in_table_c12,
            stringprep.in_table_c21_c22,
            stringprep.in_table_c3,
            stringprep.in_table_c4,
            stringprep.in_table_c5,
            stringprep.in_table_c6,
            stringprep.in_table_c7,
            stringprep.in_table_c8,
            stringprep.in_table_c9,
        )
    )
