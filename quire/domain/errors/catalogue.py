"""Declares an error once, with its class, its public names and its documentation."""

from typing import Generic, TypeVar

from quire.contracts.codes import Code, ErrorType
from quire.domain.errors.tree import Entry, QuireError, register

E = TypeVar("E", bound=QuireError)


class Kind(Generic[E]):
    """One declared error. Only the functions beside its declaration call it, with a message."""

    def __init__(
        self,
        section: str,
        raises: type[E],
        code: Code,
        reason: str,
        meaning: str,
        advice: str,
        error_type: ErrorType = "terminal",
        *,
        ours: bool = False,
    ) -> None:
        self._entry = Entry(section, raises, code, reason, error_type, meaning, advice, ours)
        self._raises = raises
        register(self._entry)

    def __call__(self, message: str, remedy: str, error_type: ErrorType | None = None) -> E:
        """The error with a message; `error_type` where the case differs from the declaration."""
        entry = self._entry
        error = self._raises.__new__(self._raises)
        QuireError.__init__(
            error, entry.code, entry.reason, message, remedy, error_type or entry.error_type
        )
        return error
