"""Starts the server in a thread as long-lived as the process: its end would be the server's."""

import threading

from quire.temporal.embedded import EmbeddedServer


class ServerThread:
    """Starts the server at once. It imports nothing: two threads that import the same packages can
    lock each other out."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._ready = threading.Event()
        self._failure: Exception | None = None
        threading.Thread(target=self._run, name="server", daemon=True).start()

    def _run(self) -> None:
        try:
            self._server.ensure()
        except Exception as error:
            self._failure = error
        self._ready.set()
        threading.Event().wait()

    def wait(self) -> Exception | None:
        """Wait until the server answers, or say why it does not."""
        self._ready.wait()
        return self._failure
