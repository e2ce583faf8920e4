"""Numbers of things as people say them."""


def counted(number: int, noun: str) -> str:
    """`1 page`, `2 pages`, `1,200 pages`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """The noun alone, in the form that the number asks for."""
    return noun if number == 1 else f"{noun}s"
