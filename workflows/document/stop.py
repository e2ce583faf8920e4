"""The sign that ends a document before all its pages are read."""

from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.codes import Code, ErrorInfo


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
            return ErrorInfo(
                code=Code.NOT_READY,
                reason="CANCELLED",
                error_type="terminal",
                message="The document was cancelled before it could be fetched.",
                remedy="Submit it again if it is still wanted.",
            )
        return ErrorInfo(
            code=Code.GW_TIMEOUT,
            reason="DEADLINE",
            error_type="retryable",
            message="The deadline passed before the document could be fetched.",
            remedy="Check that workers run, or give a longer --deadline.",
        )
