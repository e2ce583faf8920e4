"""The peers: what is installed, what is run, and where each says that a page failed.

Every peer runs with its own defaults but for the document, the address, the model's name and the
number of calls at once.
"""

import json
import re
import subprocess
import time
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from bench.environments import CannotInstall, environment, python
from bench.peers.contest import ANSWER, MODEL, Claim, Job
from bench.progress import print_progress
from testing.tool import own_environment

DRIVERS = Path(__file__).parent / "drivers"
IMPORTS_WITHIN_S = 60.0


@dataclass(frozen=True)
class Peer(ABC):
    """A tool in an environment of its own."""

    home: Path
    name: ClassVar[str]
    version: ClassVar[str]
    requirements: ClassVar[Sequence[str]]
    programs: ClassVar[Sequence[str]] = ()
    modules: ClassVar[str]
    note: ClassVar[str]
    settings: ClassVar[Mapping[str, str]] = {}
    answer: ClassVar[str] = ANSWER

    @property
    def python(self) -> str:
        return str(python(self.home))

    @abstractmethod
    def command(self, job: Job) -> list[str]: ...

    @abstractmethod
    def claim(self, job: Job, log: str) -> Claim: ...

    def environment(self, job: Job) -> dict[str, str]:
        vendor = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": job.openai_url}
        return {**self._own(), **vendor}

    def imports_s(self) -> float:
        command = [self.python, "-c", f"import {self.modules}"]
        started = time.monotonic()
        subprocess.run(
            command, env=self._own(), check=True, capture_output=True, timeout=IMPORTS_WITHIN_S
        )
        return time.monotonic() - started

    def _own(self) -> dict[str, str]:
        own = {k: v for k, v in own_environment().items() if not k.startswith("PYTHON")}
        return {**own, **self.settings}

    def document_s(self, job: Job) -> float | None:
        return None


class Olmocr(Peer):
    """It asks for a front matter before the text, and asks again when there is none."""

    name = "olmocr"
    version = "0.4.27"
    requirements = ("olmocr==0.4.27",)
    programs = ("pdftoppm", "pdftotext")
    modules = "olmocr.pipeline"
    note = "the command with --server; PNG, 1,288 pixels on the longer side, drawn by poppler"
    answer = (
        "---\nprimary_language: en\nis_rotation_valid: True\nrotation_correction: 0\n"
        f"is_table: False\nis_diagram: False\n---\n{ANSWER}"
    )

    def command(self, job: Job) -> list[str]:
        return [
            self.python, "-m", "olmocr.pipeline", str(job.out), "--markdown",
            "--server", job.openai_url, "--model", MODEL, "--pdfs", str(job.pdf),
            "--max_concurrent_requests", str(job.slots),
        ]  # fmt: skip

    def claim(self, job: Job, log: str) -> Claim:
        failed = re.findall(r"Failed \S+-(\d+) after \d+ ", log)
        locked = any((job.out / "worker_locks").glob("*.lock"))
        note = "a lock is left, which keeps other runs away for 30 minutes" if locked else ""
        return Claim(log=frozenset(map(int, failed)), note=note)


class Zerox(Peer):
    """A page that failed has an empty text in its result, as a blank one has."""

    name = "py-zerox"
    version = "0.0.7"
    requirements = ("py-zerox==0.0.7",)
    programs = ("pdfinfo", "pdftocairo", "pdftoppm")
    modules = "pyzerox"
    note = "its Python API; PNG, drawn by poppler before the first call; one call to try the key"
    # Without it LiteLLM waits for a list of prices from the internet when it starts.
    settings: ClassVar[Mapping[str, str]] = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}

    def command(self, job: Job) -> list[str]:
        arguments = [str(job.pdf), str(job.out), MODEL, str(job.slots)]
        return [self.python, str(DRIVERS / "run_zerox.py"), *arguments]

    def claim(self, job: Job, log: str) -> Claim:
        return Claim()


class Vlm4ocr(Peer):
    """Its result has an error for every page that failed."""

    name = "vlm4ocr"
    version = "0.7.1"
    requirements = ("vlm4ocr[pypdfium2]==0.7.1", "openai==3.49.0")
    modules = "vlm4ocr, openai, pypdfium2"
    note = "its Python API; PNG, 200 dpi, drawn by PDFium before the first call"

    def command(self, job: Job) -> list[str]:
        arguments = [str(job.pdf), str(job.out), MODEL, job.openai_url, str(job.slots)]
        return [self.python, str(DRIVERS / "run_vlm4ocr.py"), *arguments]

    def claim(self, job: Job, log: str) -> Claim:
        result = job.out / "result.json"
        errors = json.loads(result.read_text())["errors"] if result.exists() else []
        return Claim(result=frozenset(page for page, error in enumerate(errors, 1) if error))


class Vlmparse(Peer):
    """Its result, a zip, has an error for every page that failed."""

    name = "vlmparse"
    version = "0.1.28"
    requirements = ("vlmparse==0.1.28",)
    modules = "vlmparse.cli, vlmparse.converter_with_server, vlmparse.registries, openai"
    note = "the command with --uri; PNG, 175 dpi, drawn by PDFium"

    def command(self, job: Job) -> list[str]:
        return [
            str(self.home / "bin" / "vlmparse"), "convert", str(job.pdf), "-o", str(job.out),
            "--model", MODEL, "--provider", "openai", "--uri", job.openai_url,
            "-n", str(job.slots),
        ]  # fmt: skip

    def claim(self, job: Job, log: str) -> Claim:
        pages = [page for document in _zipped(job.out) for page in document["pages"]]
        return Claim(result=frozenset(page["page_number"] + 1 for page in pages if page["error"]))


def _zipped(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.rglob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            yield json.loads(archive.read("data.json"))


PEERS: tuple[type[Peer], ...] = (Olmocr, Zerox, Vlm4ocr, Vlmparse)


def installed(peer: type[Peer], *, install: bool) -> Peer:
    """The peer, ready to run; `CannotInstall` says why not."""
    name = f"{peer.name}-{peer.version}"
    return peer(environment(name, peer.requirements, peer.programs, install=install))


def find_peers(*, install: bool) -> tuple[list[Peer], list[str]]:
    """The peers that can run here, and a line for each that cannot."""
    peers: list[Peer] = []
    skipped: list[str] = []
    for peer in PEERS:
        doing = "looking for it, or installing it" if install else "looking for it"
        print_progress(f"{peer.name} {peer.version}: {doing}")
        try:
            peers.append(installed(peer, install=install))
        except CannotInstall as reason:
            skipped.append(f"{peer.name} {peer.version}: {reason}")
    return peers, skipped
