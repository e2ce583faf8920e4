"""The list of sources: which are the same, and what is asked of each."""

from collections.abc import Sequence

from quire.contracts.batch import BatchOptions, SourceItem
from quire.contracts.document import DocumentRequest, RetryRequest
from quire.contracts.names import document_job_id


def with_same(items: Sequence[SourceItem], content: Sequence[str]) -> list[SourceItem]:
    """The items, each that is the same as an earlier one marked so.

    The same is what has the same content (the hash of its bytes, or what else stands for them) and
    is read in the same way. A job id of its own is no difference: it is given the same text.
    """
    first: dict[tuple[object, ...], int] = {}
    found: list[SourceItem] = []
    for number, (item, bytes_) in enumerate(zip(items, content, strict=True), 1):
        if item.error is None and bytes_:
            # The same password is sealed anew each time: whether two are the same is not known.
            key = (bytes_, item.pages, item.engine, item.sealed_password)
            same_as = first.setdefault(key, number)
            if same_as != number:
                item = item.model_copy(update={"same_as": same_as})
        found.append(item)
    return found


def request_for(
    batch_id: str, user_id: str, number: int, item: SourceItem, options: BatchOptions, take: int
) -> DocumentRequest:
    """What is asked of one document."""
    return DocumentRequest(
        job_id=item.job_id or document_job_id(batch_id, number),
        source=item.source,
        source_name=item.name,
        user_id=user_id,
        engine=item.engine or options.engine,
        tier=options.tier,
        instructions=options.instructions,
        text_only=options.text_only,
        deadline_s=options.deadline_s,
        pages=item.pages,
        force=options.force and not take,
        sealed_password=item.sealed_password,
        mode=options.mode,
    )


def as_retry(request: DocumentRequest) -> DocumentRequest:
    """The same document, of which only the degraded pages are read again."""
    return request.model_copy(update={"retry": RetryRequest(user_id=request.user_id)})
