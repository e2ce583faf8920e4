"""What people send to a running batch, whatever it is, as an order; or why it is none."""

from collections.abc import Sequence

from quire.contracts.batch import BatchOrder
from quire.contracts.codes import ErrorInfo
from quire.domain import errors
from quire.domain.document.handler_input import Unclear, only_input, validated

_PROBLEM = "its max_cost_usd is not a number of dollars"


def parse_order(given: Sequence[object]) -> BatchOrder | ErrorInfo:
    """Who sends it: {"user_id": ...}, or the name alone, or nothing; and a spend limit."""
    try:
        match only_input(given):
            case None:
                return BatchOrder()
            case dict() as fields:
                return validated(BatchOrder, fields, _PROBLEM)
            case BatchOrder() as order:
                return order
            case str() as name:
                return BatchOrder(user_id=name)
            case _:
                raise Unclear('it is not an object such as {"user_id": "anna"}')
    except Unclear as problem:
        return errors.bad_input(str(problem)).info
