"""recognize_page: one attempt at one page on one route."""

import time
from collections import OrderedDict
from collections.abc import Mapping

from temporalio import activity

from activities.failures import attempt_failed, failures_for_temporal, stood_down
from activities.heartbeats import heartbeats
from activities.ports import DocumentReader
from activities.surveys import page_texts
from domain.contracts import AttemptReceipt, AttemptRequest, ReadingOptions, StoredAnswer
from domain.errors import MEANING, AttemptFailed, FailureKind
from domain.keys import answer_key, reading_key, source_key
from domain.page import PageAnswer, PageQuestion
from domain.prompt import user_prompt
from providers.protocol import Provider
from storage.protocol import Store

# "Once smaller": what is left of an image that the vendor found too large.
SMALLER = 0.5


class RouteGate:
    """Remembers, for each document, which breaker states have already seen a failure here.

    Attempts wait in the queue behind a route's slots. When one fails, the next would start
    before the workflow can say stop; the gate lets it stand down instead of calling a vendor
    that has just failed. It is a courtesy of this worker: the breaker stays the workflow's.
    """

    def __init__(self, remembered: int = 10_000) -> None:
        self._failed_at: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._remembered = remembered

    def closed_for(self, run_id: str, request: AttemptRequest) -> bool:
        return any(
            self._failed_at.get((run_id, scope), -1) >= begun_at
            for scope, begun_at in self._scopes(request).items()
        )

    def failed(self, run_id: str, request: AttemptRequest, kind: FailureKind) -> None:
        meaning = MEANING[kind]
        if meaning.trips is None or not (request.stand_down or meaning.rests == "long"):
            return
        scope = request.provider if meaning.trips == "provider" else _route(request)
        self._failed_at[run_id, scope] = self._scopes(request)[scope]
        while len(self._failed_at) > self._remembered:
            self._failed_at.popitem(last=False)

    def _scopes(self, request: AttemptRequest) -> dict[str, int]:
        return dict(zip((_route(request), request.provider), request.begun_at, strict=True))


class RecognizePage:
    """Draw, ask, judge, store, and return a small receipt."""

    def __init__(
        self, store: Store, documents: DocumentReader, providers: Mapping[str, Provider]
    ) -> None:
        self._store = store
        self._documents = documents
        self._providers = providers
        self._gate = RouteGate()

    @activity.defn
    async def recognize_page(self, request: AttemptRequest) -> AttemptReceipt:
        key = answer_key(
            request.sha256, request.page, request.reading, request.provider, request.model
        )
        with failures_for_temporal():
            async with heartbeats():
                stored = await self._store.get(key)
                if stored is not None:
                    answer = StoredAnswer.model_validate_json(stored)
                    return AttemptReceipt(
                        milliseconds=answer.milliseconds, chars=len(answer.text), stored=True
                    )
                run_id = activity.info().workflow_run_id or ""
                if self._gate.closed_for(run_id, request):
                    raise stood_down(_route(request))
                return await self._attempt(request, key, run_id)

    async def _attempt(self, request: AttemptRequest, key: str, run_id: str) -> AttemptReceipt:
        started = time.monotonic()
        try:
            answer = await self._ask(request)
        except AttemptFailed as error:
            self._gate.failed(run_id, request, error.kind)
            raise attempt_failed(error, _since(started)) from None
        except (OSError, TimeoutError):
            raise
        except Exception as error:
            activity.logger.exception("attempt_broke", extra={"page": request.page})
            bug = AttemptFailed(FailureKind.BUG, f"{type(error).__name__} inside the attempt.")
            raise attempt_failed(bug, _since(started)) from error
        milliseconds = _since(started)
        record = StoredAnswer(
            text=answer.text,
            provider=request.provider,
            model=request.model,
            milliseconds=milliseconds,
            usage=answer.usage,
            cost_usd=answer.cost_usd,
            request_id=answer.request_id,
        )
        await self._store.put(key, record.model_dump_json().encode())
        return AttemptReceipt(milliseconds=milliseconds, chars=len(answer.text))

    async def _ask(self, request: AttemptRequest) -> PageAnswer:
        reading = await self._reading(request.reading)
        try:
            return await self._call(request, reading, scale=1.0)
        except AttemptFailed as error:
            if error.kind is not FailureKind.IMAGE_SIZE:
                raise
            return await self._call(request, reading, scale=SMALLER)

    async def _call(
        self, request: AttemptRequest, reading: ReadingOptions, *, scale: float
    ) -> PageAnswer:
        path = await self._store.local_path(source_key(request.sha256))
        if path is None:
            raise AttemptFailed(FailureKind.RENDER, "The document is no longer in the store.")
        image = await self._documents.render(path, request.page, reading.image, scale=scale)
        first = max(1, request.page - reading.context_radius)
        last = min(request.page_count, request.page + reading.context_radius)
        neighbours = await page_texts(self._store, request.sha256, first, last)
        question = PageQuestion(
            image=image,
            system_prompt=reading.system_prompt,
            user_prompt=user_prompt(
                request.page,
                request.page_count,
                neighbours,
                max_context_bytes=reading.context_bytes,
                instructions=reading.instructions,
            ),
        )
        provider = self._providers[request.provider]
        return await provider.read_page(request.model, question, request.seconds)

    async def _reading(self, reading: str) -> ReadingOptions:
        data = await self._store.get(reading_key(reading))
        if data is None:
            raise AttemptFailed(FailureKind.BUG, "The reading options are not in the store.")
        return ReadingOptions.model_validate_json(data)


def _route(request: AttemptRequest) -> str:
    return f"{request.provider}:{request.model}"


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
