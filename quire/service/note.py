"""What a service says of itself to commands: where it is, and by hashes under which settings."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from quire.contracts.codes import ErrorInfo
from quire.service.build import build_stamp
from quire.settings import Settings
from quire.settings.handed_over import worker_values

State = Literal["starting", "ready", "ending", "failed"]
# In place of a setting's name where the code differs.
CODE = "the installed version"
_DIGITS = 24


@dataclass(frozen=True)
class Note:
    """A service, as its file beside the seat says. Values of settings are in it as keyed hashes
    alone."""

    state: State
    salt: str
    settings: dict[str, str]
    pid: int = 0
    since: float = 0.0
    address: str = ""
    ui_url: str = ""
    server_pid: int = 0
    # Settings that are not at their default, for people; of a secret, only that it is set.
    shown: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None

    @classmethod
    def starting(cls, settings: Settings) -> "Note":
        """The note of a service that is being started."""
        salt = secrets.token_hex(16)
        return cls("starting", salt, _hashed(settings, salt))

    def differences(self, settings: Settings) -> list[str]:
        """The names of what matters to workers and is not as the service has it."""
        mine = _hashed(settings, self.salt)
        names = mine.keys() | self.settings.keys()
        empty = _hash(self.salt, "")
        return sorted(
            name for name in names if mine.get(name, empty) != self.settings.get(name, empty)
        )

    def with_state(self, state: State, error: ErrorInfo | None = None) -> "Note":
        """The note at a later time."""
        shown = error.model_dump(mode="json") if error is not None else None
        return replace(self, state=state, error=shown)

    @property
    def failure(self) -> ErrorInfo | None:
        """Why it could not start."""
        return ErrorInfo.model_validate(self.error) if self.error is not None else None

    def write(self, path: Path) -> None:
        """Whole or not at all, and for this user alone."""
        part = path.with_suffix(f".{os.getpid()}")
        try:
            with os.fdopen(
                os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w"
            ) as file:
                json.dump(asdict(self), file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def read_note(path: Path) -> Note | None:
    """The note, if there is one."""
    with suppress(FileNotFoundError, ValueError, TypeError):
        return Note(**json.loads(path.read_text()))
    return None


def _hashed(settings: Settings, salt: str) -> dict[str, str]:
    values: Mapping[str, str] = {**worker_values(settings), CODE: build_stamp()}
    return {name: _hash(salt, text) for name, text in values.items()}


def _hash(salt: str, text: str) -> str:
    return hmac.new(salt.encode(), text.encode(), hashlib.sha256).hexdigest()[:_DIGITS]
