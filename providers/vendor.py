"""What every vendor behind an SDK has in common: time, room, judgement, price."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from domain.errors import FailureKind
from domain.page import PageAnswer, PageQuestion
from providers import judge
from providers.failures import attempt_failed
from providers.judge import Reply
from providers.pricing import Tokens, cost_usd

# A dense page of small print is some 4,000 tokens; models that think write as many again.
OUTPUT_CAP = 8192
CONNECT_TIMEOUT_S = 10.0
#: Servers on one's own machine want no key, the SDKs want one.
NO_KEY = "no-key-needed"


@dataclass(frozen=True)
class Heard:
    """A vendor's reply and what it took."""

    reply: Reply
    tokens: Tokens
    request_id: str | None


class VendorProvider(ABC):
    """A provider that asks a vendor through its SDK, which it imports on first use.

    The SDKs take up to two seconds to import: that happens in a thread, on `warm_up()` or
    before the first call's clock starts, so that neither the loop nor the page pays for it.
    """

    def __init__(
        self, name: str, api_key: str | None, base_url: str | None, *, output_cap: int = OUTPUT_CAP
    ) -> None:
        self._name = name
        # A key read from a file often ends in a newline, which no HTTP header can carry.
        self._api_key = (api_key or "").strip() or NO_KEY
        self._base_url = base_url
        self._output_cap = output_cap
        self._client: Any = None
        self._building = asyncio.Lock()

    @abstractmethod
    def _build_client(self) -> Any:
        """Import the SDK and make its client; runs in a thread."""

    @abstractmethod
    async def _ask(
        self, client: Any, model: str, question: PageQuestion, cap: int, timeout_s: float
    ) -> Heard:
        """Ask once and put the answer into neutral words."""

    async def warm_up(self) -> None:
        """Do the slow part of the first call now."""
        async with self._building:
            if self._client is None:
                self._client = await asyncio.to_thread(self._prepare)

    def _prepare(self) -> Any:
        """All the slow imports, in a thread."""
        cost_usd(self._name, "", Tokens())
        return self._build_client()

    async def read_page(self, model: str, question: PageQuestion, timeout_s: float) -> PageAnswer:
        """Ask for the page's text; see `Provider.read_page`."""
        try:
            await self.warm_up()
            async with asyncio.timeout(timeout_s):
                heard = await self._ask_with_room(model, question, timeout_s)
            return PageAnswer(
                text=judge.accept(heard.reply),
                usage=heard.tokens.usage(),
                cost_usd=cost_usd(self._name, model, heard.tokens, self._base_url),
                request_id=heard.request_id,
            )
        except Exception as error:
            who, asked = f"{self._name}:{model}", question.user_prompt
            failed = attempt_failed(error, who, (self._api_key,), asked)
            # A vendor's error may quote the key, and causes travel into logs and histories;
            # only our own bugs keep theirs, for the stack trace.
            raise failed from (error if failed.kind is FailureKind.BUG else None)

    async def _ask_with_room(self, model: str, question: PageQuestion, timeout_s: float) -> Heard:
        """Ask, and once more with twice the room if our own cap cut the answer off."""
        heard = await self._ask(self._client, model, question, self._output_cap, timeout_s)
        if not judge.wants_more_room(heard.reply):
            return heard
        again = await self._ask(self._client, model, question, 2 * self._output_cap, timeout_s)
        return replace(again, tokens=heard.tokens + again.tokens)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
