"""Who may change a job."""

import pytest

from quire.contracts.document import DocumentRequest
from quire.domain.errors import NotOwner
from quire.jobs.access import Caller, check_owner


def job_of(owner: str) -> DocumentRequest:
    return DocumentRequest(job_id="mine", source="a.pdf", user_id=owner)


@pytest.mark.parametrize("name", ["ann", ""])
def test_the_owner_may_change_a_job(name: str) -> None:
    check_owner(job_of(name), Caller(name))


@pytest.mark.parametrize(
    ("owner", "caller"), [("ann", "bob"), ("ann", ""), ("", "bob"), ("ann", "Ann")]
)
def test_others_are_refused_and_the_job_is_named(owner: str, caller: str) -> None:
    with pytest.raises(NotOwner) as refused:
        check_owner(job_of(owner), Caller(caller))
    assert "mine" in refused.value.info.message


def test_a_caller_without_a_name_owns_jobs_without_an_owner() -> None:
    check_owner(job_of(""), Caller())
