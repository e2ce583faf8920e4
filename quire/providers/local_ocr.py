"""The OCR engine on this machine: free, offline, and in a process that may die.

A process pool was rejected: pebble's treats an idle worker's death as the end of the pool, may
wait three seconds before it kills, and spawning re-imports the program.
"""

import asyncio
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from quire.contracts.page import Usage
from quire.contracts.reading import Hyphens
from quire.domain import errors
from quire.domain.document.transcription import PageAnswer, PageQuestion, mean_score
from quire.domain.errors import AttemptFailed
from quire.domain.layout.hyphens import write_hyphens
from quire.providers.errors import attempt_failed
from quire.providers.ocr_frames import (
    LARGEST_FRAME,
    LENGTH,
    FrameBroken,
    Reading,
    parse_frame,
    parse_reading,
)

_ROOT = Path(__file__).resolve().parents[2]
LOAD_TIMEOUT_S = 60.0
# The engine reads the lines of one page on every core: a second page at once would only slow
# both down, and take as much memory again.
LOCAL_OCR_SLOTS = 1
_DEAD_ALREADY_S = 0.25


class EngineDied(Exception):
    """The child process ended in the middle of a page, or writes what is no answer."""


class _Engine:
    """The child process, and its protocol of frames."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, threads: int | None) -> "_Engine":
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "quire.providers.ocr_engine",
            str(os.getpid()),
            str(threads or os.cpu_count() or 1),
            cwd=_ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        return cls(process)

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def loaded(self) -> None:
        async with asyncio.timeout(LOAD_TIMEOUT_S):
            await self._receive()

    async def read(self, picture: bytes) -> Reading:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(LENGTH.pack(len(picture)) + picture)
            await stdin.drain()
        except ConnectionError as error:
            raise EngineDied from error
        said = await self._receive()
        try:
            return parse_reading(said)
        except FrameBroken as error:
            raise EngineDied from error

    async def _receive(self) -> dict[str, Any]:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            (size,) = LENGTH.unpack(await stdout.readexactly(LENGTH.size))
            if size > LARGEST_FRAME:
                raise EngineDied
            return parse_frame(await stdout.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError, FrameBroken) as error:
            raise EngineDied from error

    def kill(self) -> None:
        if self.alive:
            self._process.kill()

    async def ended(self) -> None:
        """Wait until nothing of it is left, to the end of its pipe too."""
        assert self._process.stdout is not None
        await self._process.stdout.read()
        await self._process.wait()


class LocalOcrProvider:
    """Reads one page at a time in a child process, which is started at the first page.

    A page on which nothing is found gives an empty text. A model always answers something; the
    engine rightly finds no text on a blank scan or a photograph.
    """

    def __init__(self, threads: int | None = None, *, hyphens: Hyphens = "join") -> None:
        self._threads = threads
        self._hyphens = hyphens
        self._engine: _Engine | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._loading = asyncio.Lock()
        self._reading = asyncio.Lock()

    @staticmethod
    def available() -> bool:
        """Whether the engine is installed; looks without importing it."""
        return all(importlib.util.find_spec(name) for name in ("rapidocr", "onnxruntime"))

    @classmethod
    def missing(cls) -> str:
        """What the engine lacks before it can be used; empty when nothing."""
        if cls.available():
            return ""
        return "the local OCR engine is not installed (pip install 'quire[ocr]')"

    @property
    def pid(self) -> int | None:
        """The child process, while there is one."""
        return self._engine.pid if self._engine and self._engine.alive else None

    async def warm_up(self) -> None:
        """Start the child and load its models now."""
        await self._loaded()

    async def read_page(self, model: str, question: PageQuestion, timeout_s: float) -> PageAnswer:
        """See `Provider.read_page`; its time includes waiting for another page, not loading."""
        who = f"local:{model}"
        try:
            await self._loaded()
            async with asyncio.timeout(timeout_s) as clock, self._reading:
                reading = await self._read(question.image.data, clock)
        except EngineDied:
            # A page that exhausts the memory looks like this, and so does a passing accident.
            raise errors.ocr_process_died(who) from None
        except Exception as error:
            raise attempt_failed(error, who) from error
        return PageAnswer(
            text=write_hyphens(reading.text, self._hyphens),
            usage=Usage(),
            cost_usd=0.0,
            score=mean_score(reading.lines),
            lines=reading.lines,
            turn=reading.turn,
        )

    async def _read(self, picture: bytes, clock: asyncio.Timeout) -> Reading:
        engine = await self._loaded_outside_clock(clock)
        asked = asyncio.get_running_loop().time()
        try:
            return await self._read_or_kill(engine, picture)
        except EngineDied:
            if asyncio.get_running_loop().time() - asked > _DEAD_ALREADY_S:
                raise
        # It had died before it got this page, which is not to blame.
        return await self._read_or_kill(await self._loaded_outside_clock(clock), picture)

    async def _loaded(self) -> _Engine:
        async with self._loading:
            if self._engine is None or not self._engine.alive:
                engine = await _Engine.start(self._threads)
                try:
                    await engine.loaded()
                except BaseException:
                    self._let_go(engine)
                    raise
                self._engine = engine
            return self._engine

    async def _loaded_outside_clock(self, clock: asyncio.Timeout) -> _Engine:
        """The engine, started again if the page before ended it; the clock stands meanwhile."""
        deadline, now = clock.when(), asyncio.get_running_loop().time
        began = now()
        clock.reschedule(None)
        engine = await self._loaded()
        clock.reschedule(None if deadline is None else deadline + now() - began)
        return engine

    async def _read_or_kill(self, engine: _Engine, picture: bytes) -> Reading:
        try:
            return await engine.read(picture)
        except AttemptFailed:
            raise
        except BaseException:
            # Out of time, cancelled or broken: it would continue with a page that no one needs,
            # and its late answer would be taken for the next page's.
            self._let_go(engine)
            raise

    def _let_go(self, engine: _Engine) -> None:
        """Kill it; its end is awaited elsewhere, for a cancellation may be under way here."""
        self._engine = None
        engine.kill()
        ending = asyncio.ensure_future(engine.ended())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End the child process."""
        if self._engine is not None:
            self._let_go(self._engine)
        await asyncio.gather(*self._ending, return_exceptions=True)
