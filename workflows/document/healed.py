"""A document that was stuck and started again: what it knows of that, and what it takes over."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from quire.contracts.document import DocumentRequest, ReplacedRun
    from quire.contracts.names import HEALED_MEMO
    from quire.contracts.watch import Healed
    from quire.domain.document.stuck import parse_healed


def healed_memo() -> Healed:
    """Whether the document was stuck and started again; a memo may be anybody's."""
    try:
        return parse_healed(workflow.memo_value(HEALED_MEMO, default={}))
    except Exception:
        return Healed()


def taken_over_by(request: DocumentRequest, healed: Healed) -> tuple[ReplacedRun, ...]:
    """The runs whose answers a run takes: those that it replaces, and the run in whose place it was
    started when that was stuck. Pages need not come to the same routes again."""
    if not healed.count:
        return request.replaced
    if request.force:
        return (ReplacedRun(salt=healed.run_id, any_route=True), *request.replaced)
    # Its answers lie among those of all other jobs, which may have wished for another route.
    stuck = ReplacedRun(bought_by=healed.runs, any_route=bool(healed.runs))
    return (stuck, *request.replaced)
