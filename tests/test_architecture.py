"""The import directions and the purity of the inner rings, read from the syntax tree."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from quire.temporal.search_attributes import SEARCH_ATTRIBUTES

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("activities", "quire", "workflows")
PROGRAMS = ("starter", "worker")
OURS = {*PACKAGES, *PROGRAMS}
STDLIB = sys.stdlib_module_names
# Who may import what of ours and of others; the standard library is free. A layer is a folder or
# a file, and may always import itself. CONTRIBUTING.md repeats this as a table.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((f"{name}.py" for name in PROGRAMS), ("quire.cli",)),
    "quire/contracts": ("pydantic",),
    "quire/domain": ("quire.contracts", "pydantic"),
    "quire/ports.py": ("quire.contracts", "quire.domain"),
    "quire/threads.py": (),
    # The registry alone knows which vendors there are, and their default models.
    "quire/settings": (
        "quire.contracts", "quire.domain", "quire.providers.registry", "pydantic",
        "dotenv",
    ),
    **{
        f"quire/{name}": ("quire.contracts", "quire.domain", "quire.ports", *libraries)
        for name, libraries in {
            "providers": (
                "quire.threads", "openai", "anthropic", "genai_prices", "rapidocr", "numpy", "cv2",
            ),
            "pdf": ("quire.threads", "pymupdf", "PIL", "pebble"),
            "sources": ("httpx", "botocore", "quire.store", "quire.threads"),
            "store": ("boto3", "botocore", "pydantic", "quire.threads"),
            "telemetry": ("structlog", "opentelemetry", "temporalio"),
        }.items()
    },
    "quire/temporal": (
        "quire.contracts", "quire.domain", "quire.settings", "quire.telemetry.metrics",
        "temporalio", "cryptography", "google",
    ),
    "activities": (
        "quire.contracts", "quire.domain", "quire.ports", "quire.store", "quire.telemetry.metrics",
        "quire.telemetry.recorder", "temporalio.activity", "temporalio.exceptions",
    ),
    "workflows": (
        "quire.contracts", "quire.domain", "quire.telemetry.metrics", "quire.telemetry.recorder",
        "quire.temporal.search_attributes", "activities", "temporalio",
    ),
    "quire/app": (
        "quire.contracts", "quire.domain", "quire.ports", "quire.settings", "quire.providers",
        "quire.pdf", "quire.sources", "quire.store", "quire.telemetry", "quire.temporal",
        "activities", "workflows", "temporalio",
    ),
    "quire/stop_signals.py": (),
    "quire/worker_process.py": (
        "quire.contracts", "activities", "workflows", "quire.app", "quire.domain",
        "quire.settings", "quire.stop_signals", "quire.telemetry", "quire.temporal",
        "quire.threads", "temporalio", "structlog",
    ),
    "quire/jobs": (
        "quire.contracts", "quire.domain", "quire.ports", "quire.settings", "quire.app",
        "quire.temporal", "quire.sources", "quire.store", "quire.telemetry.traces", "workflows",
        # How a vendor is probed, by `doctor`.
        "quire.providers.registry",
        "temporalio", "httpx",
    ),
    "quire/client": (
        "quire.contracts", "quire.domain", "quire.settings", "quire.jobs", "pydantic",
    ),
    "quire/errors.py": ("quire.contracts", "quire.domain"),
    # Names of the Python API, imported when they are used.
    "quire/__init__.py": (
        "quire.contracts", "quire.errors", "quire.settings", "quire.jobs", "quire.client",
    ),
    "quire/cli": (
        "quire.contracts", "quire.domain", "quire.settings", "quire.jobs",
        "quire.stop_signals", "quire.telemetry.logs", "quire.worker_process",
        "typer", "rich", "structlog", "pydantic",
    ),
}  # fmt: skip


def module_files(*packages: str) -> list[Path]:
    files = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    return files or pytest.fail(f"nothing found in {packages}")


def every_file() -> list[Path]:
    return [*module_files(*PACKAGES), *(ROOT / f"{name}.py" for name in PROGRAMS)]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Every module that a file imports, anywhere in it; `from a import b` also as `a.b`."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: imports are absolute"
            module = node.module or ""
            found.add(module)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def within(module: str, *allowed: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in allowed)


def foreign(path: Path, *allowed: str) -> list[str]:
    """What a file imports besides the standard library and what it may."""
    return sorted(
        module
        for module in imports_of(path)
        if module.partition(".")[0] not in STDLIB
        and not within(module, *allowed)
        # `from a import b` names both; the module alone is judged by what is taken from it.
        and not any(other.startswith(module + ".") for other in imports_of(path))
    )


def ids(paths: list[Path]) -> list[str]:
    return [name_of(path) for path in paths]


def of(*packages: str) -> pytest.MarkDecorator:
    files = module_files(*packages)
    return pytest.mark.parametrize("path", files, ids=ids(files))


# --- directions ----------------------------------------------------------------------------


def layer_files(layer: str) -> list[Path]:
    return [ROOT / layer] if layer.endswith(".py") else module_files(layer)


LAYERED = [(layer, path) for layer in MAY_IMPORT for path in layer_files(layer)]


@pytest.mark.parametrize(("layer", "path"), LAYERED, ids=[name_of(path) for _, path in LAYERED])
def test_layers_import_only_what_they_may(layer: str, path: Path) -> None:
    own = layer.removesuffix(".py").replace("/", ".")
    assert not foreign(path, own, *MAY_IMPORT[layer])


def test_every_file_is_in_one_layer() -> None:
    assert sorted(path for _, path in LAYERED) == sorted(every_file())


def test_nothing_imports_the_programs() -> None:
    assert not [
        (name_of(path), module)
        for path in every_file()
        for module in imports_of(path)
        if within(module, *PROGRAMS)
    ]


# Hashes the tool's own files before a job is started: no worker does.
BEFORE_A_JOB = "quire/sources/files.py"


@of("activities", "quire/pdf", "quire/providers", "quire/sources", "quire/store")
def test_what_may_be_slow_has_threads_of_its_own(path: Path) -> None:
    """asyncio's executor has a few threads for all: one slow server would stop the whole worker."""
    shared = {"to_thread", "run_in_executor", "getaddrinfo"}
    called = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    found = {name.rpartition(".")[2] for name in map(dotted, called)} & shared
    assert not found or name_of(path) == BEFORE_A_JOB


# Who may not import whom: helpers serve tests and measurements, and know neither of them.
KEPT_APART = {
    **dict.fromkeys(
        (*PACKAGES, *(f"{name}.py" for name in PROGRAMS)), ("testing", "bench", "tests")
    ),
    "testing": ("bench", "tests"),
    "bench": ("tests",),
}
# The comparison with other tools stands on the measurements; they do without it.
PEERS = "bench.peers"


@pytest.mark.parametrize("place", KEPT_APART)
def test_tests_and_measurements_stand_on_helpers_alone(place: str) -> None:
    assert not [
        (name_of(path), module)
        for path in layer_files(place)
        for module in imports_of(path)
        if within(module, *KEPT_APART[place])
    ]


def test_measurements_do_without_the_peers() -> None:
    core = [path for path in module_files("bench") if not within(module_of(path), PEERS)]
    assert len(core) > 10
    assert not [name_of(path) for path in core for name in imports_of(path) if within(name, PEERS)]


def module_of(path: Path) -> str:
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_every_package_is_installed_and_judged_here() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert found - {"samples", "bench", "testing", "tests", "tools"} == set(PACKAGES)
    assert {path.stem for path in ROOT.glob("*.py")} == set(PROGRAMS)


def defines_activity(path: Path) -> bool:
    functions = [
        node
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return any(
        dotted(mark.func if isinstance(mark, ast.Call) else mark) == "activity.defn"
        for function in functions
        for mark in function.decorator_list
    )


def test_a_file_of_activities_is_an_activity() -> None:
    """What activities share lies in `activities/support`, and none of it is an activity."""
    files = [path for path in module_files("activities") if path.name != "__init__.py"]
    assert {name_of(path) for path in files if defines_activity(path)} == {
        name_of(path) for path in files if path.parent != ROOT / "activities/support"
    }


# --- what is replayed ----------------------------------------------------------------------

# Code outside workflows/ that runs inside the workflow: a change to what it decides is a change
# to every history. A package stands for what it imports of its own.
REPLAYED_OUTSIDE_WORKFLOWS = {
    "activities.support.failures",
    "quire.domain.cost",
    "quire.domain.counts",
    "quire.domain.document.attempts",
    "quire.domain.document.deadline",
    "quire.domain.document.details",
    "quire.domain.document.doubt",
    "quire.domain.document.handler_input",
    "quire.domain.document.keys",
    "quire.domain.document.ownership",
    "quire.domain.document.retry",
    "quire.domain.document.stuck",
    "quire.domain.errors",
    "quire.domain.page_ranges",
    "quire.domain.routing.adaptive_health",
    "quire.domain.routing.breaker",
    "quire.domain.routing.health",
    "quire.domain.routing.line",
    "quire.domain.routing.time_budget",
    "quire.telemetry.metrics",
    "quire.telemetry.recorder",
    "quire.temporal.search_attributes",
}
# The workflow names activities and never calls them; contracts hold data.
NOT_RUN = ("activities.document", "activities.watch", "quire.contracts")


def file_of(module: str) -> Path | None:
    """The file of one of our modules; of a package only when it holds code."""
    place = ROOT / module.replace(".", "/")
    if place.with_suffix(".py").is_file():
        return place.with_suffix(".py")
    package = place / "__init__.py"
    return package if package.is_file() and len(tree_of(package).body) > 1 else None


def reached(start: list[Path], passed_over: tuple[str, ...]) -> set[str]:
    """The modules that these files import, and those that these import, and so on."""
    found: set[str] = set()
    todo = list(start)
    while todo:
        for module in imports_of(todo.pop()) - found:
            path = file_of(module) if module.partition(".")[0] in PACKAGES else None
            if path is not None and not within(module, *passed_over):
                found.add(module)
                todo.append(path)
    return found


def test_code_that_is_replayed_is_known() -> None:
    found = {
        module
        for module in reached(module_files("workflows"), NOT_RUN)
        if not within(module, "workflows")
    }
    inside = {module for module in found if within(module.rpartition(".")[0], *found)}
    assert found - inside == REPLAYED_OUTSIDE_WORKFLOWS


# --- one place for a name ------------------------------------------------------------------


def test_only_one_module_names_search_attributes() -> None:
    """Elsewhere their keys are used; a visibility query may use a key's name."""
    place = ROOT / "quire" / "temporal" / "search_attributes.py"
    for path in every_file():
        if path != place:
            assert "temporalio.common.SearchAttributeKey" not in imports_of(path), name_of(path)
            words = [n.value for n in ast.walk(tree_of(path)) if isinstance(n, ast.Constant)]
            named = [n for n in SEARCH_ATTRIBUTES if any(n in w for w in words if type(w) is str)]
            assert not named, name_of(path)


# --- purity --------------------------------------------------------------------------------


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def uses(path: Path) -> Iterator[str]:
    """Every dotted name that a file uses, with what its imports stand for."""
    origin: dict[str, str] = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                origin[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    origin[alias.asname] = alias.name
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute | ast.Name):
            first, _, rest = dotted(node).partition(".")
            yield f"{origin.get(first, first)}.{rest}".rstrip(".")


ENVIRONMENT = ("os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv")


def test_only_settings_reads_the_environment() -> None:
    readers = {path for path in every_file() for name in uses(path) if within(name, *ENVIRONMENT)}
    assert not [name_of(path) for path in readers if path.parent != ROOT / "quire/settings"]


CLOCKS = (
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
)
CHANCE = ("random", "secrets", "uuid.uuid1", "uuid.uuid4", "os.urandom")
WORLD = ("open", "print", "input", "socket", "subprocess", "threading", "pathlib", "asyncio.sleep")


@of("quire/domain", "quire/contracts", "workflows")
def test_neither_clock_nor_chance_inside(path: Path) -> None:
    used = {*uses(path), *imports_of(path)}
    assert not [name for name in used if within(name, *CLOCKS, *CHANCE)]


@of("quire/domain", "quire/contracts")
def test_domain_does_nothing_to_the_world(path: Path) -> None:
    used = {*uses(path), *imports_of(path)}
    assert not [name for name in used if within(name, *WORLD, "asyncio", "logging", "os")]


def test_nothing_prints_past_the_tool() -> None:
    """Standard output is one JSON object or nothing: only `quire/cli/` may write to it."""
    printing = {path for path in every_file() if "print" in uses(path)}
    assert not [name_of(path) for path in printing if path.parent.name != "cli"]


# --- words ---------------------------------------------------------------------------------


def test_modules_say_what_they_are() -> None:
    assert not [name_of(path) for path in every_file() if not ast.get_docstring(tree_of(path))]


def test_this_test_sees_what_it_should(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from os import environ as e\n"
        "import time as t\n"
        "from temporalio import activity, workflow\n"
        "def late():\n"
        "    import openai\n"
        "    return e['X'], t.time(), openai\n",
        encoding="utf-8",
    )
    assert foreign(bad, "temporalio.activity") == ["openai", "temporalio.workflow"]
    assert "quire.domain.page_ranges" in reached([ROOT / "quire/domain/document/keys.py"], ())
    used = set(uses(bad))
    assert "os.environ" in used
    assert "time.time" in used
