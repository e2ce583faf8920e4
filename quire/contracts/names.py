"""Queue names, workflow ids and other names and limits that processes agree on."""

WORKFLOW_QUEUE = "quire"
DOCUMENTS_QUEUE = "quire-documents"
WORKFLOW_ID_PREFIX = "document-"
# What a worker can serve, each on queues of its own.
ROLES = ("workflows", "documents", "ai")
LOCAL_PROVIDER = "local"
LOCAL_MODEL = "rapidocr"
# A job id is part of a workflow id and of a folder's name.
JOB_ID = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
# Temporal keeps a workflow as long as it takes, but no one waits longer for a document.
LONGEST_DEADLINE_S = 30 * 86400.0
# What this version's workflows understand of an attempt's end, see `AttemptRequest`.
PROTOCOL = 2
# How long an attempt may wait for a slot that other documents hold.
MOMENT_S = 3.0
# The memo in which a document's start goes along from run to run.
STARTED_MEMO = "QuireStarted"
# The memo with the file's name, for lists. Names are private: a memo is encrypted as payloads are,
# and a search attribute could not be.
NAME_MEMO = "QuireSourceName"
# The memo with the deadline in seconds, where one was asked for, and that of a document which was
# stuck and started again: the watch must not have to ask a stuck document.
DEADLINE_MEMO = "QuireDeadline"
HEALED_MEMO = "QuireHealed"
# The memo with the moment of a deadline that has moved; the workflow writes it.
DEADLINE_AT_MEMO = "QuireDeadlineAt"
# The summary of the timer that keeps a document's deadline.
DEADLINE_TIMER = "the document's deadline"
# The schedule of the watch over all documents; its workflows are called after it.
WATCH_SCHEDULE = "quire-watch"
# The header of a start that holds its signature, and where the store keeps the key that signs.
SIGNATURE_HEADER = "quire-signature"
SIGNING_KEY = "keys/signing"


def setting_name(provider: str, field: str) -> str:
    """The name in the environment of one of a provider's settings."""
    return f"{provider}_{field}".upper().replace("-", "_")


def route_queue(provider: str, model: str) -> str:
    """The task queue of one route."""
    return f"quire-ai-{provider}-{model}"


def workflow_id(job_id: str) -> str:
    """The workflow id of a job."""
    return WORKFLOW_ID_PREFIX + job_id


def job_id_of(workflow_id: str) -> str:
    """The job of a workflow."""
    return workflow_id.removeprefix(WORKFLOW_ID_PREFIX)
