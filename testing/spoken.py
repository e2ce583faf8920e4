"""What a command that runs says on standard error, read as it comes."""

import subprocess
import threading
import time

from testing.wait import wait_until


class Spoken:
    """Reads the command's lines all the time, so that the pipe never fills."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    def has_said(self, words: str) -> bool:
        """Whether a line holds these words."""
        return any(words in line for line in list(self.lines))

    def wait_for(self, words: str, timeout: float = 30.0) -> float:
        """How many seconds passed until these words were said."""
        started = time.monotonic()
        try:
            wait_until(lambda: self.has_said(words), timeout=timeout)
        except AssertionError:
            raise AssertionError(f"never said {words!r}: {''.join(self.lines)}") from None
        return time.monotonic() - started

    def end(self, timeout: float = 60.0) -> int:
        """The command's exit code, once it has ended."""
        code = self.process.wait(timeout)
        self._reader.join(5)
        return code
