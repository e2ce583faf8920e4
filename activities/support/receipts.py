"""What history keeps of an attempt that has its page's text."""

from activities.support.attempt import RouteAttempt
from quire.contracts.money import NOTHING, Paid
from quire.contracts.steps import AttemptReceipt
from quire.contracts.stored import StoredAnswer


def make_receipt(
    attempt: RouteAttempt,
    answer: StoredAnswer,
    *,
    found: bool = False,
    wasted: Paid = NOTHING,
) -> AttemptReceipt:
    """The small record of a page that was read, or found in the store."""
    return AttemptReceipt(
        milliseconds=answer.milliseconds,
        chars=len(answer.text),
        stored=found,
        reused=answer.bought_by != attempt.run_id,
        paid=paid_by(attempt, answer),
        wasted=wasted,
    )


def paid_by(attempt: RouteAttempt, answer: StoredAnswer) -> Paid:
    """What the attempt's run paid. After a crash a run finds its own purchase in the store, whose
    receipt was lost."""
    if answer.bought_by != attempt.run_id:
        return NOTHING
    return Paid.of(answer.usage.input_tokens, answer.usage.output_tokens, answer.cost_usd)
