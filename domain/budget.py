"""How long one attempt may take."""

# Less than this proves nothing about a vendor, but is still worth a try.
SHORTEST_ATTEMPT_S = 0.5


def attempt_seconds(
    timeout_s: float, left_s: float, routes_still_to_try: int, *, proven: bool
) -> float:
    """The smaller of the provider's timeout and this route's share of what the deadline leaves.

    A route that has answered in this document does not hang, so nothing is kept back from it:
    cutting it short for the sake of routes that may be worse would only lose pages.
    """
    share = left_s if proven else left_s / (1 + max(0, routes_still_to_try))
    return min(timeout_s, max(SHORTEST_ATTEMPT_S, share))


def timeout_counts(given_s: float, timeout_s: float) -> bool:
    """Does running out of `given_s` say anything about the vendor?

    When the deadline left an attempt less than half of the provider's usual time, the vendor
    may be perfectly well; its breaker must not pay for our hurry.
    """
    return given_s >= timeout_s / 2
