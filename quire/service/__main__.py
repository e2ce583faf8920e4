"""The program of a service: `__main__.py SEAT_HANDLE SEAT STATE_DIR`, with its settings on standard
input. Commands start it; people have `quire service`."""

import os
import pickle
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path


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
    loading = threading.Thread(target=import_module, args=("quire.service.serve",))
    loading.start()

    from quire.temporal.embedded import EmbeddedServer
    from quire.temporal.seats import Seat

    server = EmbeddedServer(state, tied=True)
    failure: Exception | None = None
    try:
        # By this thread, whose end is the server's.
        server.ensure()
    except Exception as error:
        failure = error
    loading.join()

    from quire.service.serve import run

    # From the process that started it, by a pipe between the two.
    settings = pickle.loads(handed)  # noqa: S301

    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    os._exit(run(settings, Seat(number, handle), server, failure))


if __name__ == "__main__":
    main()
