"""Something that a job needs is missing: how soon `process` and `status` say exactly that."""

import base64
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.faults.line import Line
from testing import pdfs
from testing.cluster import Cluster
from testing.spoken import Spoken
from testing.tool import Tool
from testing.vendor.standin import StandIn

SOON_S = 10.0
KEYS = [f"k{n}:{base64.b64encode(bytes([n]) * 32).decode()}" for n in (1, 2)]
NO_KEY = {"OPENAI_BASE_URL": "", "ANTHROPIC_BASE_URL": ""}


def _sealed(keys: str) -> dict[str, str]:
    return {"ENCRYPT_PAYLOADS": "true", "ENCRYPTION_KEYS": keys}


@dataclass(frozen=True)
class Scene:
    """What is missing, which words must be said, and who is there: roles with their settings."""

    fault: str
    words: str
    workers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    client: Mapping[str, str] = field(default_factory=dict)
    # The phase in which the job needs it; time counts from there.
    phase: str = "job d1"


SCENES = (
    Scene("no worker at all", "the role workflows"),
    Scene("no role workflows", "the role workflows", {"documents,ai": {}}),
    Scene("no role documents", "the role documents", {"workflows,ai": {}}, phase="ingest"),
    Scene("no role ai", "No worker serves openai:", {"workflows,documents": {}}, phase="dispatch"),
    Scene(
        "role ai without a key",
        "OPENAI_API_KEY",
        {"workflows,documents": {}, "ai": NO_KEY},
        phase="dispatch",
    ),
    Scene("no such namespace", "no namespace 'astray'", {}, {"TEMPORAL_NAMESPACE": "astray"}, ""),
    Scene(
        "no current build",
        "none is the current version",
        {"workflows,documents,ai": {"WORKER_BUILD_ID": "b1"}},
    ),
    Scene(
        "workers with another encryption key",
        "ENCRYPTION_KEYS",
        {"workflows,documents,ai": _sealed(KEYS[0])},
        _sealed(KEYS[1]),
    ),
    Scene(
        "workers without the encryption key",
        "ENCRYPTION_KEYS",
        {"workflows,documents,ai": {}},
        _sealed(KEYS[0]),
    ),
)


def lines(folder: Path) -> list[Line]:
    """A line for each missing thing; it survived when both commands said it in time."""
    source = pdfs.mixed_pdf(folder / "mixed.pdf", 1, 2)
    return [
        _line(scene, folder / f"scene-{number}", source) for number, scene in enumerate(SCENES)
    ] + [_killed(folder / "killed")]


def _line(scene: Scene, folder: Path, source: Path) -> Line:
    with StandIn() as vendor, Cluster(folder) as cluster:
        tool = Tool(folder / "state", vendor).warmed()
        for roles, settings in scene.workers.items():
            cluster.start_worker(tool, "--roles", roles, **settings)
        client = tool.also(TEMPORAL_ADDRESS=cluster.address, **scene.client)
        process = Spoken(client.start("process", source, "--job-id", "d1", "--deadline", "2m"))
        process.wait_for(scene.phase)
        said = process.wait_for(scene.words)
        ran = client.run("status", "d1")
        process.process.kill()
        asked = ran.seconds if scene.words in ran.out + ran.err else float("inf")
    note = f"process said it after {said:.1f} s, status after {asked:.1f} s"
    return Line(scene.fault, 1, int(max(said, asked) <= SOON_S), 0, 0, note)


def _killed(folder: Path) -> Line:
    """How soon doctor forgets a worker that was killed; the server remembers it for minutes."""
    with Cluster(folder) as cluster:
        tool = Tool(folder / "state", LOCAL_OCR="never").warmed()
        client = tool.also(TEMPORAL_ADDRESS=cluster.address)
        worker = cluster.start_worker(tool)
        # A worker that has reported itself at least once.
        time.sleep(SOON_S / 2)
        worker.kill()
        worker.wait()
        since = time.monotonic()
        while "no worker serves queue quire-documents" not in client.run("doctor").out:
            if time.monotonic() - since > 120:
                break
        seconds = time.monotonic() - since
    note = f"doctor forgot it after {seconds:.1f} s"
    return Line("worker killed: forgotten", 1, int(seconds <= 2 * SOON_S), 0, 0, note)
