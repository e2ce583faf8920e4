"""The program of a service: `__main__.py SEAT_HANDLE SEAT STATE_DIR`, with its settings on standard
input. Commands start it; people have `quire service`."""

import os
import pickle
import signal
import sys
from pathlib import Path

from quire.service.server_thread import ServerThread
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.seats import Seat


def main() -> None:
    """Start the server while the workers' parts are loaded, then serve."""
    # Whoever starts it may close the terminal at once.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    handle, number, state = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    # The server and other children must not hold the seat.
    os.set_inheritable(handle, False)
    handed = sys.stdin.buffer.read()
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    server = EmbeddedServer(state, tied=True)
    starting = ServerThread(server)

    from quire.service.serve import run

    # From the process that started it, by a pipe between the two.
    settings = pickle.loads(handed)  # noqa: S301
    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    os._exit(run(settings, Seat(number, handle), server, starting.wait()))


if __name__ == "__main__":
    main()
