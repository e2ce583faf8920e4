"""How fast a batch gets on, and when it will be done."""

# Moments that are kept: a pace over the last few minutes, not over a night with a pause in it.
MOMENTS = 20
# So far apart at least, or a burst of small documents would be all there is.
APART_S = 2.0
Pace = tuple[tuple[float, int], ...]


def noted(pace: Pace, now: float, ended: int) -> Pace:
    """The pace with one more moment: so many had ended then."""
    if len(pace) > 1 and now - pace[-2][0] < APART_S:
        pace = pace[:-1]
    return (*pace, (now, ended))[-MOMENTS:]


def documents_a_second(pace: Pace) -> float | None:
    """By the moments that are kept; None before there are two."""
    if len(pace) < 2:
        return None
    (since, before), (now, ended) = pace[0], pace[-1]
    return (ended - before) / (now - since) if now > since and ended > before else None


def seconds_left(pace: Pace, left: int) -> float | None:
    """Until the last of these documents has ended; None where that cannot be told."""
    a_second = documents_a_second(pace)
    return left / a_second if a_second and left else None
