"""Wire types between workers of two versions, and between people and workers."""

import pytest
from pydantic import ValidationError

from quire.contracts.base import StrictWire
from quire.contracts.carried import DocumentRun
from quire.contracts.document import CancelRequest, DocumentRequest, RetryRequest
from quire.contracts.steps import AttemptRequest
from tests.workflows.test_state import plan


def test_older_worker_passes_over_what_a_newer_one_adds() -> None:
    """Otherwise replacing workers one after the other would fail attempts and plans."""
    request = AttemptRequest(brief="b", page=3, seconds=1.0)
    newer = {**request.model_dump(), "of_next_year": 1}
    assert AttemptRequest.model_validate(newer) == request
    known = plan()
    assert type(known).model_validate({**known.model_dump(), "of_next_year": 1}) == known
    asked = DocumentRequest(job_id="j", source="s")
    assert DocumentRequest.model_validate({**asked.model_dump(), "of_next_year": 1}) == asked


@pytest.mark.parametrize("request_type", [RetryRequest, CancelRequest])
def test_misspelt_request_is_refused(request_type: type[StrictWire]) -> None:
    with pytest.raises(ValidationError):
        request_type.model_validate({"pagse": "3"})


def test_misspelt_option_of_a_document_is_refused() -> None:
    with pytest.raises(ValidationError):
        DocumentRun.model_validate({"job_id": "j", "source": "s", "text_onyl": True})
