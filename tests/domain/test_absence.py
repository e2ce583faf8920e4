"""What a job waits for, in words, from what the server knows."""

from quire.contracts.names import DOCUMENTS_QUEUE, WORKFLOW_QUEUE, route_queue
from quire.domain.workers.absence import (
    DOES_NOT_FIT,
    NOT_OPENED,
    UNKNOWN_STEP,
    Deployment,
    Failure,
    QueueState,
    WaitingTask,
    route_of,
    what_is_missing,
)
from quire.domain.workers.live_workers import LiveWorker

PROVIDERS = ("openai", "anthropic", "openai-eu")
SOL, TERRA = route_queue("openai", "sol"), route_queue("openai", "terra")
ALIVE = QueueState(live=(LiveWorker("1@host"),))
NOBODY = QueueState()


def said(*tasks: WaitingTask, pinned: str = "", **queues: QueueState) -> list[str]:
    """The words, with queues by short names: w, d, sol, terra."""
    names = {"w": WORKFLOW_QUEUE, "d": DOCUMENTS_QUEUE, "sol": SOL, "terra": TERRA}
    states = {names[name]: state for name, state in queues.items()}
    found = what_is_missing(tasks, states, Deployment("quire", pinned), PROVIDERS)
    return [missing.words() for missing in found]


def test_a_role_that_nobody_has_is_named() -> None:
    workflow = WaitingTask(WORKFLOW_QUEUE, "DocumentWorkflow")
    ingest = WaitingTask(DOCUMENTS_QUEUE, "ingest_source")
    assert said(workflow, w=NOBODY) == [
        "No worker with the role workflows runs. Start one: `quire-worker --roles workflows`."
    ]
    assert "the role documents" in said(workflow, ingest, w=ALIVE, d=NOBODY)[0]
    assert said(workflow, ingest, w=ALIVE, d=ALIVE) == []


def test_models_without_a_worker_name_the_key_once_a_provider() -> None:
    pages = [WaitingTask(SOL, "recognize_page"), WaitingTask(TERRA, "recognize_page")] * 2
    assert said(*pages, sol=NOBODY, terra=NOBODY) == [
        "No worker serves openai:sol, openai:terra. Start one with the role ai and "
        "OPENAI_API_KEY: `quire-worker --roles ai`."
    ]
    [words] = said(*pages, sol=NOBODY, terra=ALIVE)
    assert "No worker serves openai:sol; workers serve openai:terra." in words
    assert "OPENAI_API_KEY" not in words, "the key is there"


def test_the_local_engine_needs_no_key() -> None:
    queue = route_queue("local", "rapidocr")
    [missing] = what_is_missing(
        [WaitingTask(queue, "recognize_page")], {queue: NOBODY}, Deployment("quire"), PROVIDERS
    )
    assert "local:rapidocr" in missing.message
    assert "quire[ocr]" in missing.remedy


def test_a_queue_is_of_the_provider_with_the_longest_name() -> None:
    assert route_of(route_queue("openai-eu", "sol"), PROVIDERS) == ("openai-eu", "sol")
    assert route_of(SOL, PROVIDERS) == ("openai", "sol")
    assert route_of("quire-ai-elsewhere-m", PROVIDERS) is None
    [missing] = what_is_missing(
        [WaitingTask("quire-ai-elsewhere-m", "recognize_page")],
        {"quire-ai-elsewhere-m": NOBODY},
        Deployment("quire"),
        PROVIDERS,
    )
    assert "quire-ai-elsewhere-m" in missing.message


def test_who_polled_long_ago_and_sends_no_heartbeats_may_be_busy() -> None:
    [words] = said(WaitingTask(SOL, "recognize_page"), sol=QueueState(polled_s=95.2))
    assert "openai:sol for 1 min: none runs, or all are busy" in words


def test_the_build_that_a_job_waits_for_is_named() -> None:
    task = WaitingTask(WORKFLOW_QUEUE, "DocumentWorkflow")
    old = QueueState(live=(LiveWorker("1@host", "b1"),), current_build="b1")
    assert said(task, w=old) == []
    assert said(task, w=old, pinned="b1") == []
    assert said(task, w=old, pinned="b0") == [
        "The job waits for workers of build 'b0'; workers have b1. "
        "Start them with WORKER_BUILD_ID=b0."
    ]
    [words] = said(task, w=QueueState(live=ALIVE.live, current_build="b1"))
    assert "build 'b1'; workers have no build id" in words
    [words] = said(task, w=QueueState(live=old.live))
    assert "none is the current version" in words
    assert "set-current-version --deployment-name quire --build-id b1" in words


def test_a_task_that_workers_fail_says_why() -> None:
    def failing(kind: str, message: str = "", attempt: int = 3) -> list[str]:
        failure = Failure(kind, message)
        return said(WaitingTask(WORKFLOW_QUEUE, "DocumentWorkflow", attempt, failure), w=ALIVE)

    assert "do not know DocumentWorkflow" in failing(UNKNOWN_STEP)[0]
    assert "their ENCRYPTION_KEYS lack its key" in failing(NOT_OPENED)[0]
    assert "does not fit the history" in failing(DOES_NOT_FIT)[0]
    assert "DocumentWorkflow has failed 2 times" in failing("ValueError", "odd.")[0]
    assert "odd. The worker's log" in failing("ValueError", "odd.")[0]
    assert failing("ValueError", attempt=1) == [], "a first failure may be the last"


def test_an_old_failure_does_not_hide_that_workers_are_gone() -> None:
    task = WaitingTask(WORKFLOW_QUEUE, "DocumentWorkflow", 3, Failure(NOT_OPENED))
    [words] = said(task, w=NOBODY)
    assert "the role workflows" in words
