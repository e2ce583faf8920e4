"""The sign that ends a document before all its pages are read."""

from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.codes import ErrorInfo
    from quire.domain import errors


@dataclass
class StopSign:
    """Up once the deadline has passed or a person has cancelled."""

    deadline_passed: bool = False
    cancelled: bool = False

    @property
    def up(self) -> bool:
        return self.deadline_passed or self.cancelled

    def why_no_document(self) -> ErrorInfo:
        """The error of a document that was stopped before it could be fetched."""
        if self.cancelled:
            return errors.cancelled_before_fetch().info
        return errors.deadline_before_fetch().info
