"""A long document's survey in two parts: a real server, activities that the test directs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.document.select import select_routes
from activities.support.failures import refused
from quire.contracts.carried import DocumentRun
from quire.contracts.codes import Code, ErrorInfo
from quire.contracts.document import CancelRequest, DocumentRequest, RetryRequest, RetryResult
from quire.contracts.names import DOCUMENTS_QUEUE, WORKFLOW_QUEUE, route_queue, workflow_id
from quire.contracts.page import PageRecord, TextSource
from quire.contracts.plan import DocumentPlan
from quire.contracts.reading import ReadingOptions
from quire.contracts.results import DocumentResult
from quire.contracts.routing import BreakerPolicy, Chain, DispatchPolicy, Route
from quire.contracts.steps import (
    AttemptReceipt,
    AttemptRequest,
    DocumentReceipt,
    FinalizeRequest,
    ReuseReceipt,
    ReuseRequest,
    SurveyReceipt,
    SurveyRequest,
)
from quire.contracts.stored import Brief
from quire.domain.document.plan import SURVEY_HEAD
from quire.domain.document.summary import summarize
from quire.settings import Settings
from quire.temporal.connect import connect
from testing.cluster import Cluster
from workflows.document.workflow import DocumentWorkflow

PAGES = 60
GONE = ErrorInfo(
    code=Code.EXPIRED, reason="SOURCE_GONE", error_type="terminal", message="Gone.", remedy="Again."
)
ROUTE = Route(provider="vendor", model="model", limit=40)
PLAN = DocumentPlan(
    chain=Chain(routes=(ROUTE,)),
    deadline_s=60.0,
    breaker=BreakerPolicy(),
    dispatch=DispatchPolicy(window=40),
    reading=ReadingOptions(system_prompt="read"),
    every_page=False,
    survey_head=SURVEY_HEAD,
)


@dataclass
class Scene:
    """The world of one document; every page needs a model."""

    plan: DocumentPlan = PLAN
    rest: asyncio.Event = field(default_factory=asyncio.Event)
    rest_is_gone: bool = False
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    finalize: asyncio.Event = field(default_factory=asyncio.Event)
    surveys: list[tuple[int, int | None]] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    # What each result was made of.
    results: list[dict[int, PageRecord]] = field(default_factory=list)

    @activity.defn
    async def plan_document(self, request: DocumentRequest) -> DocumentPlan:
        return self.plan

    @activity.defn
    async def write_brief(self, brief: Brief) -> str:
        return "brief"

    @activity.defn
    async def ingest_source(self, request: DocumentRequest) -> DocumentReceipt:
        return DocumentReceipt(sha256="a" * 64, bytes=1, page_count=PAGES)

    @activity.defn
    async def reuse_result(self, request: ReuseRequest) -> ReuseReceipt | None:
        return None

    @activity.defn
    async def survey_document(self, request: SurveyRequest) -> SurveyReceipt:
        self.surveys.append((request.first, request.last))
        if request.first > 1:
            await self.rest.wait()
            if self.rest_is_gone:
                raise refused(GONE)
        last = request.last or request.page_count
        return SurveyReceipt(classes="S" * (last + 1 - request.first))

    @activity.defn
    async def recognize_page(self, request: AttemptRequest) -> AttemptReceipt:
        self.asked.append(request.page)
        await self.answers.wait()
        return AttemptReceipt(milliseconds=1, chars=1)

    @activity.defn
    async def finalize_document(self, request: FinalizeRequest) -> DocumentResult:
        self.results.append({record.page: record for record in request.records})
        await self.finalize.wait()
        return summarize(request, (), text_length=0, local_path=None, s3_url=None)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
async def client(cluster: Cluster) -> Client:
    return await connect(Settings(), cluster.address)


@asynccontextmanager
async def served(client: Client, scene: Scene) -> AsyncIterator[None]:
    light: list[Callable[..., Any]] = [
        scene.plan_document,
        scene.write_brief,
        scene.reuse_result,
        scene.finalize_document,
    ]
    roles: dict[str, list[Callable[..., Any]]] = {
        DOCUMENTS_QUEUE: [scene.ingest_source, scene.survey_document],
        **{
            route_queue(route.provider, route.model): [scene.recognize_page]
            for route in scene.plan.chain.routes
        },
    }
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            Worker(
                client,
                task_queue=WORKFLOW_QUEUE,
                workflows=[DocumentWorkflow],
                activities=[*light, select_routes],
                workflow_runner=UnsandboxedWorkflowRunner(),
            )
        )
        for queue, activities in roles.items():
            worker = Worker(client, task_queue=queue, activities=activities)
            await stack.enter_async_context(worker)
        yield


async def begin(
    client: Client, job: str, pages: str | None = None
) -> WorkflowHandle[DocumentWorkflow, DocumentResult]:
    return await client.start_workflow(
        DocumentWorkflow.run,
        DocumentRun(job_id=job, source="d.pdf", pages=pages),
        id=workflow_id(job),
        task_queue=WORKFLOW_QUEUE,
    )


async def until(scene: Scene, what: str, count: int) -> None:
    async with asyncio.timeout(20):
        while len(getattr(scene, what)) < count:  # noqa: ASYNC110 (activities notify no one)
            await asyncio.sleep(0.02)


async def test_survey_of_the_rest_fails_and_the_head_is_kept(client: Client) -> None:
    scene = Scene(rest_is_gone=True)
    scene.finalize.set()
    async with served(client, scene):
        handle = await begin(client, "rest-gone")
        await until(scene, "asked", SURVEY_HEAD - 1)
        scene.rest.set()
        # The page that waited for its neighbours behind the head is now asked for without them.
        await until(scene, "asked", SURVEY_HEAD)
        scene.answers.set()
        await asyncio.wait_for(handle.result(), 20)
    (records,) = scene.results
    assert sorted(records) == list(range(1, PAGES + 1))
    read = {page for page, record in records.items() if record.source is TextSource.AI}
    assert read == set(range(1, SURVEY_HEAD + 1)), "what was paid for is kept"
    for page in set(records) - read:
        error = records[page].error
        assert records[page].source is TextSource.MUPDF_FALLBACK
        assert error is not None
        assert (error.code, error.error) == (Code.EXPIRED, "Gone.")


async def test_pages_of_the_head_alone_need_no_survey_of_the_rest(client: Client) -> None:
    """A request to retry that comes while the result is written goes round once more."""
    scene = Scene()
    scene.answers.set()
    async with served(client, scene):
        handle = await begin(client, "head-alone", pages="1-5")
        await until(scene, "results", 1)
        request = RetryRequest(pages="2")
        again = await handle.execute_update(DocumentWorkflow.retry_pages, request)
        assert again == RetryResult(pages=(2,))
        scene.finalize.set()
        await asyncio.wait_for(handle.result(), 20)
    assert scene.surveys == [(1, SURVEY_HEAD)]
    assert sorted(scene.asked) == [1, 2, 2, 3, 4, 5]
    assert len(scene.results) == 2


async def test_cancelled_during_the_rest(client: Client) -> None:
    scene = Scene()
    scene.answers.set()
    scene.finalize.set()
    async with served(client, scene):
        handle = await begin(client, "cancelled-rest")
        await until(scene, "asked", SURVEY_HEAD - 1)
        await asyncio.sleep(0.3)
        await handle.execute_update(DocumentWorkflow.cancel_document, CancelRequest())
        await asyncio.wait_for(handle.result(), 20)
        scene.rest.set()
    (records,) = scene.results
    kept = {page for page, record in records.items() if record.source is TextSource.AI}
    assert kept == set(range(1, SURVEY_HEAD))
    assert {r.error.code for p, r in records.items() if p not in kept and r.error} == {
        Code.NOT_READY
    }
