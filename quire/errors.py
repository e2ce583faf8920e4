"""The errors that the Python API raises, by class.

Each has `code`, `reason`, `error_type`, `message` and `remedy`; docs/errors.md lists them all.
"""

from quire.contracts.codes import Code
from quire.domain.errors import (
    AttemptFailed,
    BucketDenied,
    DocumentRefused,
    EngineUnavailable,
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
    "BucketDenied",
    "Code",
    "DocumentRefused",
    "EngineUnavailable",
    "JobError",
    "JobNotFound",
    "NotOwner",
    "NotRunning",
    "NothingToRetry",
    "QuireError",
    "SettingsError",
    "UsageError",
]
