"""recognize_page: one attempt at one page on one route."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping

from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.support.attempt import RouteAttempt
from activities.support.failures import attempt_failed, failures_for_temporal
from activities.support.gate import RouteGate
from activities.support.heartbeats import heartbeats
from activities.support.metrics import CallMeter, QueueWait, queued_for, reused
from activities.support.receipts import make_receipt, paid_by
from activities.support.slots import Slots
from quire.contracts.codes import FailureKind
from quire.contracts.names import MOMENT_S, PROTOCOL
from quire.contracts.steps import AttemptReceipt, AttemptRequest
from quire.contracts.stored import Brief, StoredAnswer
from quire.domain import errors
from quire.domain.document.keys import brief_key
from quire.domain.document.prompt import user_prompt
from quire.domain.document.transcription import PageAnswer, PageQuestion
from quire.domain.errors import AttemptFailed, StoredObjectGone
from quire.ports import DocumentReader, Provider, Store, Tracing, Unsealer
from quire.store.documents import Originals
from quire.store.surveys import SurveyedTexts

# "Once smaller": what is left of an image that the vendor found too large.
SMALLER = 0.5
BRIEFS_KEPT = 100
UNSAVED_KEPT = 1000


class RecognizePage:
    """Draws the page, calls the model, stores the answer and returns a small receipt."""

    def __init__(
        self,
        store: Store,
        documents: DocumentReader,
        providers: Mapping[str, Provider],
        slots: Slots,
        unseal: Unsealer,
        tracing: Tracing,
        gate: RouteGate | None = None,
    ) -> None:
        self._store = store
        self._originals = Originals(store, documents)
        self._texts = SurveyedTexts(store)
        self._providers = providers
        self._slots = slots
        self._unseal = unseal
        self._tracing = tracing
        self._meter = CallMeter()
        self._gate = gate or RouteGate()
        # A short name: every receipt in history holds it.
        self._name = secrets.token_urlsafe(3)
        self._briefs: OrderedDict[str, Brief] = OrderedDict()
        # Answers that were paid for while the store was out of reach: the next try puts them.
        self._unsaved: OrderedDict[str, StoredAnswer] = OrderedDict()

    @activity.defn
    async def recognize_page(self, request: AttemptRequest) -> AttemptReceipt:
        """The page from the store if it is there, else from one call to the model."""
        waiting = QueueWait()
        with failures_for_temporal():
            async with heartbeats():
                attempt = RouteAttempt(
                    run_id=activity.info().workflow_run_id or "",
                    brief=await self._brief(request.brief),
                    request=request,
                    is_first=activity.info().attempt == request.attempt == 1,
                )
                bought = await self._bought(attempt)
                if bought is not None:
                    return bought
                unsaved = self._unsaved.get(attempt.key)
                if unsaved is None:
                    return await self._read(attempt, waiting)
                return self._signed(attempt, await self._save(attempt, unsaved))

    def _signed(self, attempt: RouteAttempt, receipt: AttemptReceipt) -> AttemptReceipt:
        """With this worker's name: the document learns from it how many workers there are."""
        if attempt.request.protocol >= PROTOCOL:
            return receipt.model_copy(update={"worker": self._name})
        return receipt

    async def _bought(self, attempt: RouteAttempt) -> AttemptReceipt | None:
        """What the store has of the page, that nobody has to be asked for again."""
        stored = await self._answer(attempt.key)
        if stored is None:
            return await self._taken_over(attempt)
        reused(attempt.route)
        _log(attempt, "page_reused")
        return make_receipt(attempt, stored, found=True)

    async def _answer(self, key: str) -> StoredAnswer | None:
        data = await self._store.get(key)
        return None if data is None else StoredAnswer.model_validate_json(data)

    async def _taken_over(self, attempt: RouteAttempt) -> AttemptReceipt | None:
        """What another route has bought for the page, or a run that this one replaced, kept as
        this run's own under the route that read it: an answer never passes for another model's."""
        for run in attempt.buyers:
            for place, theirs, own in attempt.replaced_keys(run):
                found = await self._answer(theirs)
                if found is None or (run.bought_by and found.bought_by not in run.bought_by):
                    continue
                if own != theirs:
                    await self._store.put(own, found.model_dump_json().encode(), replace=False)
                route = f"{found.provider}:{found.model}"
                reused(route)
                _log(attempt, "page_reused", route=route)
                read_by = None if place == attempt.request.route else place
                receipt = make_receipt(attempt, found, found=True)
                return receipt.model_copy(update={"read_by": read_by})
        return None

    async def _read(self, attempt: RouteAttempt, waiting: QueueWait) -> AttemptReceipt:
        """Ask for the page, unless it is read meanwhile; report a failure to the log and the
        scheduler."""
        started = time.monotonic()
        try:
            self._pass_gate(attempt)
            question = await self._question(attempt, scale=1.0)
            # Drawn before, stored after: a slot is the vendor's time, not ours.
            with self._tracing.step("wait for slot", attempt.request.page):
                await self._slots.take(attempt.route, _patience_s(attempt.request, waiting))
            try:
                queued_for(attempt.route, waiting.seconds)
                self._pass_gate(attempt)
                if not attempt.is_first:
                    # The try before, or the page's other attempt, may have been slow and not lost:
                    # what it stored meanwhile is not bought again.
                    bought = await self._bought(attempt)
                    if bought is not None:
                        return bought
                started = time.monotonic()
                seconds = attempt.seconds(waiting.seconds)
                with self._gate.call(attempt, seconds) as seconds:
                    answer = await self._ask(attempt, question, seconds)
            finally:
                self._slots.give_back(attempt.route)
        except AttemptFailed as error:
            self._gate.failed(attempt, error.kind)
            _log_failure(attempt, error, _since(started))
            raise attempt_failed(error, _since(started)) from None
        except (OSError, ApplicationError, StoredObjectGone):
            raise
        except Exception as error:
            activity.logger.exception("attempt_broke", extra=_facts(attempt))
            raise attempt_failed(errors.attempt_broke(error), _since(started)) from None
        record = StoredAnswer(
            text=answer.text,
            provider=attempt.provider,
            model=attempt.model,
            milliseconds=_since(started),
            usage=answer.usage,
            cost_usd=answer.cost_usd,
            request_id=answer.request_id,
            bought_by=attempt.run_id,
        )
        _log(attempt, "page_read", duration_ms=record.milliseconds, chars=len(answer.text))
        receipt = await self._save(attempt, record)
        return self._signed(attempt, receipt.model_copy(update={"pause_s": answer.pause_s}))

    def _pass_gate(self, attempt: RouteAttempt) -> None:
        try:
            self._gate.turn_away(attempt)
        except ApplicationError as turned_away:
            _log(attempt, "attempt_stood_down", why=turned_away.type)
            raise

    async def _save(self, attempt: RouteAttempt, record: StoredAnswer) -> AttemptReceipt:
        """Store the answer. The first one stays: another job may have read the same page too."""
        key = attempt.key
        self._unsaved[key] = record
        while len(self._unsaved) > UNSAVED_KEPT:
            self._unsaved.popitem(last=False)
        data = record.model_dump_json().encode()
        with self._tracing.step("store", attempt.request.page):
            first = await self._store.put(key, data, replace=False)
        kept = None if first else await self._answer(key)
        if kept is None and not first:
            # What was there is damaged, or gone again.
            await self._store.put(key, data)
        self._unsaved.pop(key, None)
        if kept is None or kept == record:
            return make_receipt(attempt, record)
        # Another job, or another try of this attempt, was first: this answer is paid for too.
        return make_receipt(attempt, kept, wasted=paid_by(attempt, record))

    async def _ask(
        self, attempt: RouteAttempt, question: PageQuestion, seconds: float
    ) -> PageAnswer:
        try:
            return await self._call(attempt, question, seconds)
        except AttemptFailed as error:
            if error.kind is not FailureKind.IMAGE_SIZE:
                raise
            smaller = await self._question(attempt, scale=SMALLER)
            return await self._call(attempt, smaller, seconds)

    async def _question(self, attempt: RouteAttempt, *, scale: float) -> PageQuestion:
        brief, page = attempt.brief, attempt.request.page
        password = None
        if brief.sealed_password is not None:
            password = self._unseal(brief.sealed_password, brief.job_id)
        with self._tracing.step("draw", page):
            image = await self._originals.draw(brief, page, password, scale)
        self._tracing.just_took("encode", page, image.encode_s)
        first = max(1, page - brief.reading.context_radius)
        last = min(brief.page_count, page + brief.reading.context_radius)
        return PageQuestion(
            image=image,
            system_prompt=brief.reading.system_prompt,
            user_prompt=user_prompt(
                page,
                brief.page_count,
                await self._texts.between(brief.sha256, first, last),
                max_context_bytes=brief.reading.context_bytes,
                instructions=brief.reading.instructions,
                version=brief.reading.prompt_version,
            ),
        )

    async def _call(
        self, attempt: RouteAttempt, question: PageQuestion, seconds: float
    ) -> PageAnswer:
        provider, route = self._providers[attempt.provider], attempt.route
        page = attempt.request.page
        with self._tracing.vendor_call(route, page), self._meter.call(route) as call:
            answer = await provider.read_page(attempt.model, question, seconds)
            call.answered(route, answer)
            return answer

    async def _brief(self, name: str) -> Brief:
        if name not in self._briefs:
            data = await self._store.get(brief_key(name))
            if data is None:
                raise errors.brief_missing()
            self._briefs[name] = Brief.model_validate_json(data)
            while len(self._briefs) > BRIEFS_KEPT:
                self._briefs.popitem(last=False)
        return self._briefs[name]


def _patience_s(request: AttemptRequest, waiting: QueueWait) -> float | None:
    """How much longer an attempt may wait for a slot that other documents hold."""
    return max(0.0, MOMENT_S - waiting.seconds) if request.hurried else None


def _log(attempt: RouteAttempt, event: str, **facts: object) -> None:
    activity.logger.info(event, extra={**_facts(attempt), **facts})


def _log_failure(attempt: RouteAttempt, error: AttemptFailed, milliseconds: int) -> None:
    """Log a failure without its message, which may hold a vendor's words."""
    facts = {
        **_facts(attempt),
        "duration_ms": milliseconds,
        "outcome": error.kind.value,
        "error_code": error.info.code.value,
    }
    if error.http_status is not None:
        facts["http_status"] = error.http_status
    activity.logger.warning("attempt_failed", extra=facts)


def _facts(attempt: RouteAttempt) -> dict[str, object]:
    request = attempt.request
    return {"page": request.page, "route": attempt.route, "attempt": request.attempt}


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
