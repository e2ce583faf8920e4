"""A provider over any vendor's transport: time, room, judging, price and failures."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from quire.contracts.codes import FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.contracts.page import Usage
from quire.domain import errors
from quire.domain.document.transcription import PageAnswer, PageQuestion
from quire.providers import judge
from quire.providers.bounded_body import ANSWER_HEADERS
from quire.providers.clean_text import clean_text
from quire.providers.errors import attempt_failed
from quire.providers.pricing import cost_usd
from quire.providers.rate_headers import pause_s
from quire.providers.registry import spec_of
from quire.providers.tokens import Tokens
from quire.providers.transport import CONNECT_TIMEOUT_S, ModelCall, ModelReply, Transport
from quire.threads import Dependency, threads_of

# A dense page of small print is some 4,000 tokens; models that think write as many again.
OUTPUT_CAP = 8192
# Tokens have four letters on average; those for blanks and rules have the most.
CHARS_PER_TOKEN = 16
# It goes into histories, and a header may be as long as it likes.
LONGEST_ID = 200

T = TypeVar("T")


@dataclass(frozen=True)
class Judge(Generic[T]):
    """How replies of one kind are judged: what they come to, and when more room may help."""

    #: The reply's value, or `AttemptFailed`.
    accept: Callable[[ModelReply], T]
    wants_more_room: Callable[[ModelReply], bool]


PAGE_TEXT = Judge(judge.accept, judge.wants_more_room)


@dataclass(frozen=True)
class Answered(Generic[T]):
    """An accepted reply, with what all the calls behind it took."""

    value: T
    tokens: Tokens
    cost_usd: float | None
    request_id: str | None


@dataclass
class _Spent:
    """The tokens of the calls so far. They are billed however the attempt ends."""

    tokens: Tokens = field(default_factory=Tokens)


class ModelProvider:
    """Asks a vendor's models through its transport.

    An SDK takes up to two seconds to import: that happens in a thread, on `warm_up()` or
    before the first call's clock starts, so that neither the loop nor the page pays for it.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        *,
        output_cap: int = OUTPUT_CAP,
        connect_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        self._name = name
        self._transport = transport
        self._output_cap = output_cap
        self._connect_s = connect_s
        self._client: Any = None
        self._building = asyncio.Lock()
        self._under_way = Counter[str]()

    async def warm_up(self) -> None:
        """Do the slow part of the first call now."""
        async with self._building:
            if self._client is None:
                self._client = await threads_of(Dependency.MODELS).run(self._prepare)

    def _prepare(self) -> Any:
        """All the slow imports, in a thread."""
        cost_usd(self._name, "", Tokens())
        # SDKs log every request. Set before the import, so that an SDK's own setting still counts.
        logging.getLogger(self._transport.package).setLevel(logging.WARNING)
        return self._transport.build_client()

    async def read_page(self, model: str, question: PageQuestion, timeout_s: float) -> PageAnswer:
        """Ask for the page's text; see `Provider.read_page`."""
        call = ModelCall(
            model=model,
            system_prompt=question.system_prompt,
            user_prompt=question.user_prompt,
            images=(question.image,),
            cap=self._output_cap,
            timeout_s=timeout_s,
            connect_s=self._connect_s,
        )
        self._under_way[model] += 1
        try:
            answered = await self._ask(call, PAGE_TEXT)
        finally:
            self._under_way[model] -= 1
        tokens = answered.tokens
        return PageAnswer(
            text=answered.value,
            usage=Usage(input_tokens=tokens.read, output_tokens=tokens.written),
            cost_usd=answered.cost_usd,
            request_id=answered.request_id,
            pause_s=pause_s(
                ANSWER_HEADERS.get({}),
                under_way=self._under_way[model],
                tokens=tokens.read + tokens.written,
                now=time.time(),
            ),
        )

    async def _ask(self, call: ModelCall, judge: Judge[T]) -> Answered[T]:
        """Send the call and judge its reply; every failure becomes `AttemptFailed`."""
        spent = _Spent()
        try:
            await self.warm_up()
            async with asyncio.timeout(call.timeout_s):
                reply = await self._send_with_room(call, judge, spent)
            return Answered(
                value=judge.accept(reply),
                tokens=spent.tokens,
                cost_usd=self._cost(call.model, spent.tokens),
                request_id=reply.request_id,
            )
        except Exception as error:
            failed = attempt_failed(
                error,
                f"{self._name}:{call.model}",
                secrets=(self._transport.api_key,),
                asked=call.user_prompt,
                wasted=self._billed(call.model, spent.tokens),
            )
            # A vendor's error may quote the key, and causes travel into logs and histories;
            # only our own bugs keep theirs, for the stack trace.
            raise failed from (error if failed.kind is FailureKind.BUG else None)

    async def _send_with_room(self, call: ModelCall, judge: Judge[T], spent: _Spent) -> ModelReply:
        """Send, and once more with twice the room if our own cap cut the reply off."""
        reply = await self._send(call, spent)
        if judge.wants_more_room(reply):
            reply = await self._send(replace(call, cap=2 * call.cap), spent)
        return reply

    async def _send(self, call: ModelCall, spent: _Spent) -> ModelReply:
        """Send once. The reply's text is cleaned, and no longer than the cap allows."""
        reply = await self._transport.send(self._client, call)
        spent.tokens += reply.tokens
        allowed = call.cap * CHARS_PER_TOKEN
        if len(reply.text) > allowed:
            raise errors.answer_too_long(len(reply.text), allowed)
        return replace(
            reply,
            text=clean_text(reply.text),
            request_id=reply.request_id and clean_text(reply.request_id)[:LONGEST_ID],
        )

    def _cost(self, model: str, tokens: Tokens) -> float | None:
        return cost_usd(self._name, model, tokens, self._transport.base_url)

    def _billed(self, model: str, tokens: Tokens) -> Paid:
        """What rejected replies cost. Without tokens there is no bill, not even an unknown one."""
        if tokens == Tokens():
            return NOTHING
        return Paid.of(tokens.read, tokens.written, self._cost(model, tokens))

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await self._transport.close(client)


def open_provider(
    name: str,
    api_key: str | None,
    base_url: str | None = None,
    *,
    output_cap: int = OUTPUT_CAP,
    connect_s: float = CONNECT_TIMEOUT_S,
) -> ModelProvider:
    """The provider of this name, as its entry in the registry builds it."""
    transport = spec_of(name).build(api_key, base_url)
    return ModelProvider(name, transport, output_cap=output_cap, connect_s=connect_s)
