"""What a job waits for: a worker, a role, a key, a build. Errors of `status`, words elsewhere."""

from collections.abc import Sequence
from functools import partial

from quire.contracts.codes import Code
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.service import SECTION
from quire.domain.errors.tree import QuireError


class JobWaits(QuireError):
    """The job is kept, and waits for something that is missing."""

    def words(self) -> str:
        """What is missing and what to do, in one line."""
        return f"{self.message} {self.remedy}"


_kind = partial(Kind, SECTION, JobWaits)
_NO_WORKER = _kind(
    Code.IO_ERROR,
    "NO_WORKER",
    "no worker with the role, or with the vendor's key, that the job needs",
    "start one as the message says; nothing is lost, documents continue when it runs",
    "retryable",
    ours=True,
)
_NO_BUILD = _kind(
    Code.IO_ERROR,
    "NO_BUILD",
    "the job belongs to a build (`WORKER_BUILD_ID`) that no worker serves, or none is current",
    "start workers of that build, or make theirs the current version",
    "retryable",
    ours=True,
)
_WORKER_CODE = _kind(
    Code.IO_ERROR,
    "WORKER_CODE",
    "the workers cannot take the job's next step: their version does not know it, does not fit the "
    "job's history, or fails",
    "run workers of the version that began the job; their log says more",
    "retryable",
    ours=True,
)
_NO_KEY = _kind(
    Code.IO_ERROR,
    "NO_KEY",
    "the workers cannot decrypt the job's payloads",
    "give workers and tool the same `ENCRYPTION_KEYS`",
    "retryable",
    ours=True,
)
_BUSY = _kind(
    Code.NOT_READY,
    "BUSY",
    "workers run, but none has answered for the job in time",
    "try again in a moment; the workers' logs say whether they are stuck",
    "retryable",
    ours=True,
)


def no_worker_with_role(role: str) -> JobWaits:
    """No worker serves the queue of a role."""
    return _NO_WORKER(
        f"No worker with the role {role} runs.",
        f"Start one: `quire-worker --roles {role}`.",
    )


def no_worker_for_models(routes: Sequence[str], needs: str, others: Sequence[str] = ()) -> JobWaits:
    """No worker serves these routes of a provider; `others` of its models are served."""
    if others:
        return _NO_WORKER(
            f"No worker serves {', '.join(routes)}; workers serve {', '.join(others)}.",
            "Give all workers the same models (docs/settings.md).",
        )
    return _NO_WORKER(
        f"No worker serves {', '.join(routes)}.",
        f"Start one with the role ai and {needs}: `quire-worker --roles ai`.",
    )


def no_worker_polls(what: str, seconds: float) -> JobWaits:
    """Workers were there, and may be busy: they do not say whether they are alive."""
    return _NO_WORKER(
        # Whole minutes: the words must stay the same while people read them.
        f"No worker has asked for work of {what} for {max(1, seconds // 60):.0f} min: none runs, "
        "or all are busy.",
        "`quire doctor` checks what runs.",
    )


def build_not_served(build: str, running: Sequence[str]) -> JobWaits:
    """The job belongs to a build that no worker has."""
    there = f"workers have {', '.join(running)}" if running else "workers have no build id"
    return _NO_BUILD(
        f"The job waits for workers of build {build!r}; {there}.",
        f"Start them with WORKER_BUILD_ID={build}.",
    )


def build_not_current(running: Sequence[str], deployment: str) -> JobWaits:
    """Versioned workers get nothing before their version is current."""
    return _NO_BUILD(
        f"Workers of build {', '.join(running)} run, but none is the current version.",
        f"Run: temporal worker deployment set-current-version --deployment-name {deployment} "
        f"--build-id {running[-1]}",
    )


def workers_too_old(step: str) -> JobWaits:
    """The workers' code does not know a step of the job."""
    return _WORKER_CODE(
        f"The workers do not know {step}: they are older than the job, or another program's.",
        "Replace them by workers of the version that began the job.",
    )


def history_does_not_fit() -> JobWaits:
    """A replay with the workers' code contradicts the job's history."""
    return _WORKER_CODE(
        "The workers' code does not fit the history of the job.",
        "Run workers of the version that began it, or start it again with --force.",
    )


def step_keeps_failing(step: str, attempts: int, why: str) -> JobWaits:
    """Workers take the step, and it fails each time."""
    because = f": {why.rstrip('.')}" if why else ""
    return _WORKER_CODE(
        f"{step} has failed {attempts} times and is tried again{because}.",
        "The worker's log says more.",
    )


def workers_lack_keys() -> JobWaits:
    """The workers cannot open what the client has encrypted."""
    return _NO_KEY(
        "The workers cannot decrypt this job: their ENCRYPTION_KEYS lack its key.",
        "Give workers and tool the same ENCRYPTION_KEYS; documents then continue.",
    )


def workers_busy(job_id: str, workers: int) -> JobWaits:
    """Workers are alive, and do not answer."""
    seen = "a worker" if workers == 1 else f"{workers} workers"
    return _BUSY(
        f"Job {job_id!r} does not answer: {seen} with the role workflows, seen lately, must be "
        "busy, stuck or just gone.",
        "Try again in a moment; see the workers' logs.",
    )
