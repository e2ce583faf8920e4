"""What every vendor behind an SDK has in common: time, room, judgement, price."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.domain.document.transcription import PageAnswer, PageQuestion
from quire.providers import judge
from quire.providers.errors import attempt_failed
from quire.providers.judge import Reply
from quire.providers.pricing import Tokens, cost_usd

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


@dataclass
class Tab:
    """What the calls about one page have taken so far; it stands however they end."""

    tokens: Tokens = field(default_factory=Tokens)


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
        """Ask once and put the answer, good or not, into neutral words."""

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
        tab = Tab()
        try:
            await self.warm_up()
            async with asyncio.timeout(timeout_s):
                heard = await self._ask_with_room(model, question, timeout_s, tab)
            return PageAnswer(
                text=judge.accept(heard.reply),
                usage=tab.tokens.usage(),
                cost_usd=cost_usd(self._name, model, tab.tokens, self._base_url),
                request_id=heard.request_id,
            )
        except Exception as error:
            who, asked = f"{self._name}:{model}", question.user_prompt
            wasted = self._billed(model, tab.tokens)
            failed = attempt_failed(error, who, (self._api_key,), asked, wasted)
            # A vendor's error may quote the key, and causes travel into logs and histories;
            # only our own bugs keep theirs, for the stack trace.
            raise failed from (error if failed.kind is FailureKind.BUG else None)

    async def _ask_with_room(
        self, model: str, question: PageQuestion, timeout_s: float, tab: Tab
    ) -> Heard:
        """Ask, and once more with twice the room if our own cap cut the answer off."""
        heard = await self._ask(self._client, model, question, self._output_cap, timeout_s)
        tab.tokens += heard.tokens
        if judge.wants_more_room(heard.reply):
            heard = await self._ask(self._client, model, question, 2 * self._output_cap, timeout_s)
            tab.tokens += heard.tokens
        return heard

    def _billed(self, model: str, tokens: Tokens) -> Paid:
        """What answers cost that did not count. No tokens, no bill: not even an unknown one."""
        if tokens == Tokens():
            return NOTHING
        return Paid.of(
            tokens.read, tokens.written, cost_usd(self._name, model, tokens, self._base_url)
        )

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()
