"""Whether a document must end before all its pages are read."""

from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.codes import ErrorInfo
    from quire.domain import errors


@dataclass
class StopState:
    """The deadline has passed, or a person has cancelled. Written by `DocumentWorkflow`,
    `DeadlineTimer` and `People` alone; every step looks at it."""

    deadline_passed: bool = False
    cancelled: bool = False

    @property
    def requested(self) -> bool:
        """Nothing new is begun."""
        return self.deadline_passed or self.cancelled

    def why_no_document(self) -> ErrorInfo:
        """The error of a document that was stopped before it could be fetched."""
        if self.cancelled:
            return errors.cancelled_before_fetch().info
        return errors.deadline_before_fetch().info
