"""The classes of errors, and the register that finds the class of an error by code and reason."""

from collections.abc import Iterator
from typing import NamedTuple, Self, TypeVar

from quire.contracts.codes import Code, ErrorInfo, ErrorType


class QuireError(Exception):
    """The root of the tree; carries what the public sees of the error."""

    info: ErrorInfo

    def __init__(
        self,
        code: Code,
        reason: str,
        message: str,
        remedy: str,
        error_type: ErrorType = "terminal",
    ) -> None:
        super().__init__(message)
        self.info = ErrorInfo(
            code=code, reason=reason, error_type=error_type, message=message, remedy=remedy
        )

    @property
    def code(self) -> Code:
        """The public code."""
        return self.info.code

    @property
    def reason(self) -> str:
        """What happened, in one word below the code."""
        return self.info.reason

    @property
    def error_type(self) -> ErrorType:
        """Whether trying again may help."""
        return self.info.error_type

    @property
    def message(self) -> str:
        """What happened, for people."""
        return self.info.message

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return self.info.remedy

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process borders; the default would carry only the message.
        return (_revive, (type(self), self.info))

    @classmethod
    def from_info(cls, info: ErrorInfo) -> Self:
        """The error as another process reported it.

        Its class is the one in the catalogue for code and reason, if that is a subclass of `cls`.
        """
        entry = _ENTRIES.get((info.code, info.reason))
        found = entry.raises if entry is not None and issubclass(entry.raises, cls) else cls
        return _revive(found, info)


_E = TypeVar("_E", bound=QuireError)


def _revive(cls: type[_E], info: ErrorInfo) -> _E:
    error = cls.__new__(cls)
    Exception.__init__(error, info.message)
    error.info = info
    return error


class DocumentRefused(QuireError):
    """There is no document: not a PDF or image, too large, locked, or its origin is gone."""


class JobError(QuireError):
    """The job cannot do what was requested: unknown, not the caller's, not ready, expired."""


class SettingsError(QuireError):
    """A setting is unknown or impossible."""

    def __init__(self, name: str, problem: str, allowed: str) -> None:
        super().__init__(Code.UNKNOWN, "SETTING", f"{name}: {problem}.", f"Allowed: {allowed}.")


class UsageError(QuireError):
    """The command line cannot work."""

    def __init__(self, message: str, remedy: str = "See --help.") -> None:
        super().__init__(Code.UNKNOWN, "USAGE", message, remedy)


class Entry(NamedTuple):
    """One error of the catalogue: its public names, its class, its line in docs/errors.md.

    `ours` where an operator must fix it: neither the document nor its sender is to blame.
    """

    section: str
    raises: type[QuireError]
    code: Code
    reason: str
    error_type: ErrorType
    meaning: str
    advice: str
    ours: bool = False


# Errors are found by code and reason, so each pair is declared once.
_ENTRIES: dict[tuple[Code, str], Entry] = {}


def register(entry: Entry) -> None:
    """Add an error to the catalogue; a pair of code and reason has one meaning."""
    key = (entry.code, entry.reason)
    if key in _ENTRIES:
        raise ValueError(f"{entry.code} {entry.reason} is declared twice")
    _ENTRIES[key] = entry


def is_ours(info: ErrorInfo) -> bool:
    """Whether the catalogue says that an operator must fix this error."""
    entry = _ENTRIES.get((info.code, info.reason))
    return entry is not None and entry.ours


def entries() -> Iterator[Entry]:
    """Every error of the catalogue, in the order of declaration."""
    yield from _ENTRIES.values()
