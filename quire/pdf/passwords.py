"""The forms in which a password may have been used to lock a file."""

import stringprep
import unicodedata


def password_forms(password: str) -> list[str]:
    """The password exactly as given, and in its SASLprep form where that differs.

    PDF 2.0 locks files with the SASLprep form of what the person typed. Both forms keep blanks at
    the ends.
    """
    prepared = saslprep(password)
    return [password] if prepared is None or prepared == password else [password, prepared]


def saslprep(text: str) -> str | None:
    """The text as RFC 4013 prepares it; None when it holds forbidden characters."""
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
