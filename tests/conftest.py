"""What every test may use."""

import functools
import http.server
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing import pdfs
from testing.cluster import Cluster
from testing.s3 import S3Server
from testing.tool import Tool
from testing.vendor.standin import StandIn

# Settings of the machine, such as a `.env` in the repository's root, must not decide a test.
os.environ["QUIRE_CONFIG"] = "none"
# A shell that runs tests in the background has them ignore Ctrl-C, and so all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
pytest_plugins = ("tests.lanes", "tests.skip_report")


@pytest.fixture
def vendor() -> Iterator[StandIn]:
    with StandIn() as standing_in:
        yield standing_in


@pytest.fixture
def tool(tmp_path: Path, vendor: StandIn) -> Tool:
    """The tool with both vendors configured, each at the stand-in."""
    return Tool(tmp_path / "state", vendor).warmed()


@pytest.fixture
def lone_tool(tmp_path: Path) -> Tool:
    """The tool on a fresh machine: no key, no server."""
    return Tool(tmp_path / "state").warmed()


@pytest.fixture(scope="session")
def _shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tool, StandIn]]:
    folder = tmp_path_factory.mktemp("shared")
    with StandIn() as vendor, Cluster(folder / "cluster") as cluster:
        served = Tool(folder / "state", vendor).warmed()
        cluster.start_worker(served)
        client = Tool(
            folder / "client",
            TEMPORAL_ADDRESS=cluster.address,
            STORE_URL=str(served.state / "store"),
            RESULTS_URL=str(served.state / "results"),
        )
        yield client.warmed(), vendor


@pytest.fixture
def shared_vendor(_shared: tuple[Tool, StandIn]) -> Iterator[StandIn]:
    """The vendor of the shared worker, without another test's rules and calls."""
    _, vendor = _shared
    vendor.reset()
    yield vendor
    vendor.reset()


@pytest.fixture
def shared_tool(_shared: tuple[Tool, StandIn], shared_vendor: StandIn) -> Tool:
    """The tool as a client of a server and a worker that many tests use.

    For tests whose vendor is well: a worker keeps away from a vendor that failed for some time,
    which the next test would see. Jobs and documents must be the test's own (see `own_mixed`).
    """
    return _shared[0]


@pytest.fixture
def own_mixed(mixed: Path, tmp_path: Path) -> Path:
    """Like `mixed`, with bytes that no other test has: nothing of it is in the store."""
    path = tmp_path / "mixed.pdf"
    path.write_bytes(mixed.read_bytes() + f"\n% {tmp_path}\n".encode())
    return path


@pytest.fixture(scope="session")
def pdf_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pdfs")


@pytest.fixture(scope="session")
def one_page(pdf_folder: Path) -> Path:
    return pdfs.text_pdf(pdf_folder / "one.pdf")


@pytest.fixture(scope="session")
def mixed(pdf_folder: Path) -> Path:
    """4 pages of text, then 8 that need vision."""
    return pdfs.mixed_pdf(pdf_folder / "mixed.pdf", 4, 8)


@pytest.fixture(scope="session")
def forty(pdf_folder: Path) -> Path:
    """40 pages that need vision."""
    return pdfs.mixed_pdf(pdf_folder / "forty.pdf", 0, 40)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A real S3 server with a bucket."""
    server = S3Server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A plain web server and the folder it serves."""
    folder = tmp_path / "web"
    folder.mkdir()
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": _silent})
    handler = functools.partial(quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()


def _silent(*_: object) -> None:
    pass
