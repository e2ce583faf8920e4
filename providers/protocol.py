"""What every model vendor must do."""

from typing import Protocol

from domain.page import PageAnswer, PageQuestion


class Provider(Protocol):
    """One vendor, or one engine on this machine."""

    async def read_page(self, model: str, question: PageQuestion, timeout_s: float) -> PageAnswer:
        """Ask once. Raises `AttemptFailed`, and nothing else, when there is no good answer.

        `timeout_s` is the total time of the call, however slowly the vendor drips.
        """
        ...

    async def close(self) -> None:
        """Let go of connections and child processes."""
        ...
