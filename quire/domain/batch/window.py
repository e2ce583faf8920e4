"""Which documents are started next: in their order, never more at once than the window."""

from collections.abc import Container

from quire.domain.batch.letters import WAITING

# Documents that one activity starts: its time is bounded, and a command to pause comes soon after.
GROUP = 20


def next_numbers(letters: str, *, window: int, held: Container[int] = ()) -> tuple[int, ...]:
    """The first waiting documents that the window has room for; `held` ones wait for others.

    Counting the window's room is the caller's: `window` is what is left of it.
    """
    found: list[int] = []
    place = -1
    while len(found) < min(window, GROUP):
        place = letters.find(WAITING, place + 1)
        if place < 0:
            break
        if place + 1 not in held:
            found.append(place + 1)
    return tuple(found)
