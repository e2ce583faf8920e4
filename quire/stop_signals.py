"""The signals that end a program in order: Ctrl-C, SIGTERM, and SIGHUP when its terminal closes."""

import asyncio
import os
import select
import signal
from collections.abc import Callable

_OUTPUT = (1, 2)


def on_stop_signals(stop: Callable[[], None], *signals: signal.Signals) -> None:
    """Call `stop` on each of these signals and on SIGHUP, which `nohup` has ignored and leaves so.

    For the main thread, with its event loop running.
    """
    loop = asyncio.get_running_loop()
    for name in signals:
        loop.add_signal_handler(name, stop)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, _hang_up, stop)


def _hang_up(stop: Callable[[], None]) -> None:
    """The terminal may be gone: whatever is still written then goes nowhere, and fails nothing."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in _OUTPUT:
        if _is_lost(stream):
            os.dup2(null, stream)
    os.close(null)
    stop()


def _is_lost(stream: int) -> bool:
    """Whether what is written there reaches no one: a closed terminal, or a pipe without reader."""
    poll = select.poll()
    poll.register(stream, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))
