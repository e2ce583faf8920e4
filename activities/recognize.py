"""recognize_page: one attempt at one page on one route."""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from temporalio import activity

from activities.failures import attempt_failed, failures_for_temporal, stood_down
from activities.heartbeats import heartbeats
from activities.measuring import CallMeter, queued, reused
from activities.originals import Originals
from activities.ports import DocumentReader, Tracing, Unsealer
from activities.surveys import page_texts
from domain.budget import timeout_counts
from domain.contracts import AttemptReceipt, AttemptRequest, Brief, StoredAnswer
from domain.errors import MEANING, AttemptFailed, FailureKind
from domain.keys import answer_key, brief_key, reading_id
from domain.page import PageAnswer, PageQuestion
from domain.prompt import user_prompt
from domain.spending import Paid
from providers.protocol import Provider
from storage.protocol import Store

# "Once smaller": what is left of an image that the vendor found too large.
SMALLER = 0.5
BRIEFS_KEPT = 100
GATE_CLOSED_FOR_S = 10.0
UNSAVED_KEPT = 1000


class RouteGate:
    """Remembers, for each document, which breaker states have already seen a failure here.

    Attempts wait in the queue behind a route's slots. When one fails, the next would start
    before the workflow can say stop; the gate lets it stand down instead of calling a vendor
    that has just failed. It is a courtesy of this worker: the breaker stays the workflow's, and
    the gate opens by itself in case the news of the failure never reached it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed_at: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def closed_for(self, attempt: "Attempting") -> bool:
        self._forget()
        return any(
            self._failed_at.get((attempt.run_id, scope), (-1, 0.0))[0] >= begun_at
            for scope, begun_at in attempt.scopes.items()
        )

    def failed(self, attempt: "Attempting", kind: FailureKind) -> None:
        meaning = MEANING[kind]
        if meaning.trips is None or not (attempt.brief.stand_down or meaning.rests == "long"):
            return
        if kind is FailureKind.TIMEOUT and not attempt.had_time:
            return
        scope = attempt.provider if meaning.trips == "provider" else attempt.route
        key = (attempt.run_id, scope)
        known = self._failed_at.pop(key, (-1, 0.0))[0]
        self._failed_at[key] = (max(known, attempt.scopes[scope]), self._clock())

    def _forget(self) -> None:
        while self._failed_at:
            key, (_, since) = next(iter(self._failed_at.items()))
            if self._clock() - since < GATE_CLOSED_FOR_S:
                break
            del self._failed_at[key]


@dataclass(frozen=True)
class Attempting:
    """An attempt with what its brief says of it."""

    run_id: str
    brief: Brief
    request: AttemptRequest

    @property
    def provider(self) -> str:
        return self.brief.routes[self.request.route][0]

    @property
    def model(self) -> str:
        return self.brief.routes[self.request.route][1]

    @property
    def had_time(self) -> bool:
        """Was it given enough time for a timeout to mean anything?"""
        return timeout_counts(self.request.seconds, self.brief.routes[self.request.route][2])

    @property
    def route(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def scopes(self) -> dict[str, int]:
        return dict(zip((self.route, self.provider), self.request.begun_at, strict=True))

    @property
    def key(self) -> str:
        return answer_key(
            self.brief.sha256,
            self.request.page,
            reading_id(self.brief.reading),
            self.provider,
            self.model,
            self.request.take,
        )


class RecognizePage:
    """Draw, ask, judge, store, and return a small receipt."""

    def __init__(
        self,
        store: Store,
        documents: DocumentReader,
        providers: Mapping[str, Provider],
        unseal: Unsealer,
        tracing: Tracing,
    ) -> None:
        self._store = store
        self._originals = Originals(store, documents)
        self._providers = providers
        self._unseal = unseal
        self._tracing = tracing
        self._meter = CallMeter()
        self._gate = RouteGate()
        self._briefs: OrderedDict[str, Brief] = OrderedDict()
        # Answers that were paid for while the store was out of reach: the next try puts them.
        self._unsaved: OrderedDict[str, StoredAnswer] = OrderedDict()

    @activity.defn
    async def recognize_page(self, request: AttemptRequest) -> AttemptReceipt:
        with failures_for_temporal():
            async with heartbeats():
                attempt = Attempting(
                    run_id=activity.info().workflow_run_id or "",
                    brief=await self._brief(request.brief),
                    request=request,
                )
                queued(attempt.route)
                stored = await self._store.get(attempt.key)
                if stored is not None:
                    answer = StoredAnswer.model_validate_json(stored)
                    reused(attempt.route)
                    _log(attempt, "page_reused")
                    return _receipt(answer, stored=True)
                if attempt.key in self._unsaved:
                    return await self._save(attempt.key, self._unsaved[attempt.key])
                if self._gate.closed_for(attempt):
                    _log(attempt, "attempt_stood_down")
                    raise stood_down(attempt.route)
                return await self._attempt(attempt)

    async def _attempt(self, attempt: Attempting) -> AttemptReceipt:
        started = time.monotonic()
        try:
            answer = await self._ask(attempt)
        except AttemptFailed as error:
            self._gate.failed(attempt, error.kind)
            _log(
                attempt,
                "attempt_failed",
                duration_ms=_since(started),
                outcome=error.kind.value,
                error_code=error.info.code.value,
            )
            raise attempt_failed(error, _since(started)) from None
        except OSError:
            raise
        except Exception as error:
            activity.logger.exception("attempt_broke", extra=_facts(attempt))
            bug = AttemptFailed(FailureKind.BUG, f"{type(error).__name__} inside the attempt.")
            raise attempt_failed(bug, _since(started)) from error
        record = StoredAnswer(
            text=answer.text,
            provider=attempt.provider,
            model=attempt.model,
            milliseconds=_since(started),
            usage=answer.usage,
            cost_usd=answer.cost_usd,
            request_id=answer.request_id,
        )
        _log(attempt, "page_read", duration_ms=record.milliseconds, chars=len(answer.text))
        return await self._save(attempt.key, record)

    async def _save(self, key: str, record: StoredAnswer) -> AttemptReceipt:
        """The first answer stays: another job on the same bytes may have read the page too."""
        self._unsaved[key] = record
        while len(self._unsaved) > UNSAVED_KEPT:
            self._unsaved.popitem(last=False)
        await self._store.put(key, record.model_dump_json().encode(), replace=False)
        self._unsaved.pop(key, None)
        return _receipt(record)

    async def _ask(self, attempt: Attempting) -> PageAnswer:
        try:
            return await self._call(attempt, scale=1.0)
        except AttemptFailed as error:
            if error.kind is not FailureKind.IMAGE_SIZE:
                raise
            return await self._call(attempt, scale=SMALLER)

    async def _call(self, attempt: Attempting, *, scale: float) -> PageAnswer:
        brief, page = attempt.brief, attempt.request.page
        password = None
        if brief.sealed_password is not None:
            password = self._unseal(brief.sealed_password, brief.job_id)
        image = await self._originals.draw(brief, page, password, scale)
        first = max(1, page - brief.reading.context_radius)
        last = min(brief.page_count, page + brief.reading.context_radius)
        question = PageQuestion(
            image=image,
            system_prompt=brief.reading.system_prompt,
            user_prompt=user_prompt(
                page,
                brief.page_count,
                await page_texts(self._store, brief.sha256, first, last),
                max_context_bytes=brief.reading.context_bytes,
                instructions=brief.reading.instructions,
            ),
        )
        provider, route = self._providers[attempt.provider], attempt.route
        with self._tracing.vendor_call(route, page), self._meter.call(route) as call:
            answer = await provider.read_page(attempt.model, question, attempt.request.seconds)
            call.answered(route, answer)
            return answer

    async def _brief(self, name: str) -> Brief:
        if name not in self._briefs:
            data = await self._store.get(brief_key(name))
            if data is None:
                raise FileNotFoundError(2, "the document's brief is missing from the store")
            self._briefs[name] = Brief.model_validate_json(data)
            while len(self._briefs) > BRIEFS_KEPT:
                self._briefs.popitem(last=False)
        return self._briefs[name]


def _receipt(answer: StoredAnswer, *, stored: bool = False) -> AttemptReceipt:
    usage = answer.usage
    return AttemptReceipt(
        milliseconds=answer.milliseconds,
        chars=len(answer.text),
        stored=stored,
        paid=Paid.of(usage.input_tokens, usage.output_tokens, answer.cost_usd),
    )


def _log(attempt: Attempting, event: str, **facts: object) -> None:
    activity.logger.info(event, extra={**_facts(attempt), **facts})


def _facts(attempt: Attempting) -> dict[str, object]:
    return {"page": attempt.request.page, "route": attempt.route}


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
