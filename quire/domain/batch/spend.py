"""The spend limit of a batch: nothing is started once what is settled has reached it."""


def limit_reached(settled_usd: float, limit_usd: float | None) -> bool:
    """Whether no further document may be started. What is under way is finished: it may cost more
    than the limit, by as much as the window holds. An unknown price counts as nothing."""
    return limit_usd is not None and settled_usd >= limit_usd


def limit_words(settled_usd: float, limit_usd: float) -> str:
    """Why documents were not started."""
    return f"${settled_usd:.4f} is spent of at most ${limit_usd:.4f}"
