"""Damaged and hostile documents, and a worker that must outlive them."""

import asyncio
import random
import time
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from bench.faults.line import Line
from bench.usage import megabytes, own_peak
from quire.contracts.carried import DocumentRun
from quire.contracts.codes import Code
from quire.contracts.names import WORKFLOW_QUEUE, workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from testing import pdfs
from testing.cluster import Cluster, open_to_others
from testing.tool import Tool
from workflows.document.workflow import DocumentWorkflow

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "corrupt_or_hostile"
AT_ONCE = 6
WITHIN_S = 60.0


@dataclass
class Outcome:
    """How a set of files ended; what is in neither count was lost."""

    read: int = 0
    refused: int = 0
    slowest_s: float = 0.0


def lines(folder: Path, variants: int) -> list[Line]:
    """Every file ends read or refused with a code, and the worker outlives them all."""
    files = _hostile_files(folder, variants)
    with Cluster(folder / "hostile") as cluster:
        tool = Tool(folder / "hostile" / "state", LOCAL_OCR="never")
        worker = cluster.start_worker(tool, **open_to_others(*files))
        before = megabytes(own_peak(worker.pid)) or 0.0
        outcome = asyncio.run(_try_files(cluster.address, files))
        alive = worker.poll() is None
        grew = (megabytes(own_peak(worker.pid)) or 0.0) - before if alive else 0.0
    note = (
        f"{outcome.read} read, {outcome.refused} refused with a code; slowest "
        f"{outcome.slowest_s:.1f} s; worker {'lives' if alive else 'DIED'}, grew {grew:.0f} MB"
    )
    ended = outcome.read + outcome.refused
    survived = ended if alive else 0
    return [Line("hostile files", len(files), survived, len(files) - ended, 0, note)]


def _hostile_files(folder: Path, variants: int) -> list[Path]:
    """The corpus' own where it is at hand, pages that hang or devour memory, and variants of a
    good document: cut at every tenth, and with bits flipped."""
    target = folder / "hostile-files"
    target.mkdir()
    good = pdfs.mixed_pdf(target / "good.pdf", 2, 2).read_bytes()
    files = sorted(CORPUS.glob("*.pdf")) if CORPUS.exists() else []
    files.append(pdfs.greedy_text_pdf(target / "greedy-text.pdf"))
    files.append(pdfs.greedy_drawing_pdf(target / "greedy-drawing.pdf"))
    for tenth in range(1, 10):
        path = target / f"cut-{tenth}.pdf"
        path.write_bytes(good[: len(good) * tenth // 10])
        files.append(path)
    chance = random.Random(7)
    for number in range(variants - 9):
        damaged = bytearray(good)
        for _ in range(chance.choice((1, 8, 64, 512))):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path = target / f"flipped-{number:03d}.pdf"
        path.write_bytes(damaged)
        files.append(path)
    return files


async def _try_files(address: str, files: list[Path]) -> Outcome:
    """Put every file through the cluster, a few at once."""
    client = await connect(Settings(), address)
    outcome, places = Outcome(), asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(
        *(_try(client, outcome, places, number, path) for number, path in enumerate(files))
    )
    return outcome


async def _try(
    client: Client, outcome: Outcome, places: asyncio.Semaphore, number: int, path: Path
) -> None:
    job = f"hostile-{number:03d}"
    async with places:
        started = time.monotonic()
        try:
            async with asyncio.timeout(WITHIN_S):
                await client.execute_workflow(
                    DocumentWorkflow.run,
                    DocumentRun(job_id=job, source=str(path), source_name=path.name),
                    id=workflow_id(job),
                    task_queue=WORKFLOW_QUEUE,
                )
            outcome.read += 1
        except WorkflowFailureError as error:
            cause = error.cause
            known = isinstance(cause, ApplicationError) and cause.type in set(Code)
            outcome.refused += known
        except TimeoutError:
            pass
        outcome.slowest_s = max(outcome.slowest_s, time.monotonic() - started)
