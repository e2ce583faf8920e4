"""What a check of the installation found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. `ok` is None for what is merely not configured."""

    name: str
    ok: bool | None
    detail: str
    remedy: str = ""
