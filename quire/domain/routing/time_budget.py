"""How long one attempt may take, and how many pages may be asked of two routes."""

# Less than this proves nothing about a vendor, but is still worth a try.
SHORTEST_ATTEMPT_S = 0.5
# A delay up to this between the selection and a free slot does not count as waiting.
GRACE_S = 0.25
# No call is cut off sooner for what the route's other calls took.
LEAST_CUT_S = 20.0
# So many answers of a route are remembered.
ANSWERS_KEPT = 20
# One page may be asked of two routes at once, and one more of every so many.
PAGES_A_HEDGE = 10


def attempt_seconds(
    timeout_s: float, left_s: float, routes_still_to_try: int, *, proven: bool
) -> float:
    """The smaller of the provider's timeout and this route's share of what the deadline leaves.

    A route that has answered in this document does not hang, so nothing is kept back from it:
    cutting it short for the sake of routes that may be worse would only lose pages.
    """
    share = left_s if proven else left_s / (1 + max(0, routes_still_to_try))
    return min(timeout_s, max(SHORTEST_ATTEMPT_S, share))


def seconds_after_waiting(given_s: float, timeout_s: float, waited_s: float) -> float:
    """What is left of an attempt's time once it has its slot.

    When the deadline cut it short, its share began when it was chosen: what it waited behind
    calls that hang is gone, or one wave after the other would use up the shares of the routes
    still to try. An attempt whose timeout would count against the route keeps enough for that
    to be fair.
    """
    if given_s >= timeout_s:
        return given_s
    least = timeout_s / 2 if timeout_counts(given_s, timeout_s) else SHORTEST_ATTEMPT_S
    return max(min(given_s, least), given_s - max(0.0, waited_s - GRACE_S))


def timeout_counts(given_s: float, timeout_s: float) -> bool:
    """Does running out of `given_s` say anything about the vendor?

    When the deadline left an attempt less than half of the provider's usual time, the vendor
    may be perfectly well, and its breaker must not open.
    """
    return given_s >= timeout_s / 2


def hedges_left(pages: int, hedged: int) -> int:
    """How many more pages of a document may be asked of two routes: both calls are paid for."""
    return max(0, 1 + pages // PAGES_A_HEDGE - hedged)
