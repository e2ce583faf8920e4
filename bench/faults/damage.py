"""Every kind of stored object, damaged in every way: nothing of it may be served, and nothing is
fatal."""

import signal
from pathlib import Path

from bench.faults.kills import page_of
from bench.faults.line import Line
from testing import pdfs
from testing.cluster import Cluster
from testing.damage import DAMAGES, damage, objects
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers, vendor_answers_late
from testing.vendor.standin import StandIn
from testing.wait import wait_until

TEXT_PAGES, MODEL_PAGES = 2, 4
PAGES = TEXT_PAGES + MODEL_PAGES
AT_REST = ("sources", "surveys", "answers", "finished", "texts")


class Stage:
    """A cluster with one worker, and documents that nobody has seen before."""

    def __init__(self, folder: Path, vendor: StandIn, cluster: Cluster) -> None:
        self.folder = folder
        self.vendor = vendor
        self.cluster = cluster
        self.tool = Tool(folder / "state", vendor).warmed()
        self.client = self.tool.also(TEMPORAL_ADDRESS=cluster.address)
        self.store = self.tool.state / "store"
        cluster.start_worker(self.tool)

    def document(self, name: str) -> Path:
        path = pdfs.mixed_pdf(self.folder / f"{name}.pdf", TEXT_PAGES, MODEL_PAGES)
        path.write_bytes(path.read_bytes() + f"\n% {name}\n".encode())
        return path


def lines(folder: Path) -> list[Line]:
    """A line for each kind of object and each damage."""
    found = []
    with StandIn() as vendor, Cluster(folder / "cluster") as cluster:
        stage = Stage(folder, vendor, cluster)
        for how in DAMAGES:
            found += [_at_rest(stage, kind, how) for kind in AT_REST]
            found += [_brief(stage, how), _result(stage, how)]
    return found


def _at_rest(stage: Stage, kind: str, how: str) -> Line:
    """Damaged between two jobs on the same document."""
    name = f"{kind}-{how}"
    document = stage.document(name)
    first = stage.client.process(document, "--job-id", f"{name}-1")
    own = {path for path in objects(stage.store, kind) if first.json["sha256"] in str(path)}
    if kind == "texts":
        own = {path for path in objects(stage.store, kind) if _is_newest(path, stage.store / kind)}
    other = _other(stage.store, kind, own)
    if kind in ("surveys", "answers"):
        for path in objects(stage.store, "finished"):
            path.unlink()  # or nothing would read them
    damaged = damage(own, how, other)
    calls = len(stage.vendor.calls())
    second = stage.client.process(document, "--job-id", f"{name}-2", "--deadline", "40s")
    again = len(stage.vendor.calls()) - calls
    repeated = again - (damaged if kind == "answers" else 0)
    return _line(f"{kind} {how}", first, second, repeated, f"{damaged} damaged")


def _other(folder: Path, kind: str, own: set[Path]) -> bytes:
    """What another object of the kind holds."""
    others = [path for path in objects(folder, kind) if path not in own]
    return others[0].read_bytes() if others else b""


def _is_newest(path: Path, folder: Path) -> bool:
    others = (other.stat().st_mtime for other in folder.rglob("*") if other.is_file())
    return path.stat().st_mtime >= max(others)


def _brief(stage: Stage, how: str) -> Line:
    """Damaged while the document is read, and the worker that remembers it is lost."""
    name = f"briefs-{how}"
    document = stage.document(name)
    briefs, answers = ({*objects(stage.store, kind)} for kind in ("briefs", "answers"))
    stage.vendor.behave(vendor_answers_late(3.0))
    stage.vendor.behave(vendor_answers(), first=2)
    running = stage.client.start("process", document, "--json", "--job-id", name)
    wait_until(lambda: len({*objects(stage.store, "answers")} - answers) >= 2)
    worker = stage.cluster.workers[-1]
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    read = {int(path.name[:6]) for path in {*objects(stage.store, "answers")} - answers}
    own = {*objects(stage.store, "briefs")} - briefs
    damaged = damage(own, how, _other(stage.store, "briefs", own))
    stage.vendor.reset()
    stage.cluster.start_worker(stage.tool)
    out, err = running.communicate(timeout=120)
    ran = Ran(running.returncode, out, err, 0.0)
    found = ran.sources().get("ai", 0) if ran.code == 0 else 0
    repeated = sum(page_of(call.user) in read for call in stage.vendor.calls())
    lost = MODEL_PAGES - found
    note = f"{damaged} damaged, worker killed"
    return Line(f"briefs {how}", 1, int(lost == 0), lost, repeated, note)


def _result(stage: Stage, how: str) -> Line:
    """The files of the result, which people may edit."""
    name = f"results-{how}"
    first = stage.client.process(stage.document(name), "--job-id", name)
    written, calls = first.text(), len(stage.vendor.calls())
    place = stage.tool.state / "results" / name
    for file in ("text.txt", "result.json"):
        other = next(path for path in place.parent.glob(f"*/{file}") if path.parent != place)
        damage([place / file], how, other.read_bytes())
    given = stage.client.run("result", name, "--json", "--with-text")
    good = given.code == 0 and given.json["text"] == written
    repeated = len(stage.vendor.calls()) - calls
    return Line(f"results {how}", 1, int(good), 0 if good else PAGES, repeated, "given as written")


def _line(fault: str, first: Ran, second: Ran, repeated: int, note: str) -> Line:
    if second.code != 0:
        return Line(fault, 1, 0, PAGES, repeated, note)
    lost = second.json["metadata"]["pages_failed"]
    good = lost == 0 and first.text() == second.text()
    return Line(fault, 1, int(good), lost, repeated, note)
