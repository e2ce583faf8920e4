"""The errors that the Python API raises, by class.

Each has `code`, `reason`, `error_type`, `message` and `remedy`; docs/errors.md lists them all.
"""

from quire.contracts.codes import Code
from quire.domain.errors import (
    AttemptFailed,
    BadInput,
    BucketDenied,
    DiskFull,
    DocumentRefused,
    EngineUnavailable,
    JobConflict,
    JobError,
    JobNotFound,
    NothingToRetry,
    NotOwner,
    NotRunning,
    QuireError,
    SettingsError,
    UsageError,
)

__all__ = [
    "AttemptFailed",
    "BadInput",
    "BucketDenied",
    "Code",
    "DiskFull",
    "DocumentRefused",
    "EngineUnavailable",
    "JobConflict",
    "JobError",
    "JobNotFound",
    "NotOwner",
    "NotRunning",
    "NothingToRetry",
    "QuireError",
    "SettingsError",
    "UsageError",
]
