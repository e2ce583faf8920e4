"""When a document must end that only the engine on this machine reads.

A deadline that nobody asked for is the same for a letter and for a book. That does where vendors
read, and where a page that comes too late has a text layer. A scan has none: its page would be
empty. So without a vendor such a deadline grows with the pages to be read, and moves on as long as
pages are read.
"""

from quire.contracts.plan import DocumentPlan
from quire.domain.counts import counted

# Local OCR of a dense A4 page on two cores.
LOCAL_PAGE_S = 5.0
# A deadline is no estimate: the machine may be slower, or read other documents too.
SLACK = 2.0
# From its start on, no document takes longer whose deadline nobody asked for.
LONGEST_GROWN_S = 86400.0


def grown_s(plan: DocumentPlan, pages: int) -> float:
    """How long so many pages may take; the plan's deadline at least, and where that is fixed."""
    return max(plan.deadline_s, min(SLACK * plan.page_s * pages, LONGEST_GROWN_S))


def moved_on(
    plan: DocumentPlan, pages: int, *, started: float, read_at: float, now: float
) -> float | None:
    """The next deadline of a document at its present one, as if its open pages were a document
    that begins now; None where it ends: nothing is left to read, none was read for too long, or
    the deadline is fixed."""
    if not plan.page_s or not pages or now - read_at >= plan.deadline_s:
        return None
    moved = min(now + grown_s(plan, pages), started + LONGEST_GROWN_S)
    return moved if moved > now else None


def deadline_words(plan: DocumentPlan, pages: int, *, known: bool, allowed_s: float) -> str:
    """Why the deadline is another than the plan's, and what reading takes; else nothing. Not all
    pages are `known` to need it as long as some are not surveyed."""
    if not plan.page_s or grown_s(plan, pages) <= plan.deadline_s:
        return ""
    number = counted(pages, "page") if known else f"up to {counted(pages, 'page')}"
    minutes = plan.page_s * pages / 60
    return (
        f"No vendor is asked: local OCR reads {number}, at {plan.page_s:g} s each in about "
        f"{minutes:.0f} min. The deadline has grown to {allowed_s / 60:.0f} min."
    )
