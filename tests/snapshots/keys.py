"""Names of things in stores and on disks, and secrets under lock: what is old must be found."""

import ast
import inspect
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from temporalio.api.common.v1 import Payload

from quire.contracts.plan import DocumentPlan
from quire.contracts.reading import ReadingOptions, TextOptions
from quire.contracts.routing import BreakerPolicy, Chain, DispatchPolicy, Route
from quire.contracts.stored import LIST_BEGINS, Brief, ImageList, ImageManifest, ImagePage
from quire.domain.document import keys
from quire.domain.document.origin import STORED
from quire.domain.document.page_images import natural_key
from quire.domain.document.plan import SURVEY_HEAD
from quire.domain.page_ranges import format_pages
from quire.settings import load_settings
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.encryption import KeyRing, SealingCodec, open_keys
from tests.snapshots.together import finish

SHA = "ab" * 32
OTHER = "cd" * 32
READING = ReadingOptions(system_prompt="Rules.", instructions="Tables as they are.", salt="run-7")
WRITTEN = TextOptions(version=2, hyphens="join")
ROUTE = Route(provider="openai", model="gpt-6.1-sol", ahead=2)
LOCAL = Route(provider="local", model="rapidocr", limit=1, last_resort_for="scanned")
PLAN = DocumentPlan(
    chain=Chain(routes=(ROUTE, LOCAL), left_out=("anthropic is left out: no key",)),
    deadline_s=180.0,
    breaker=BreakerPolicy(),
    dispatch=DispatchPolicy(),
    reading=READING,
    every_page=False,
    survey_head=25,
)
BRIEF = Brief(
    job_id="job-7",
    sha256=SHA,
    page_count=40,
    reading=READING,
    routes=(("openai", "gpt-6.1-sol", 60.0), ("local", "rapidocr", 120.0)),
)
FILES = (
    "page_10.png",
    "Page_2.png",
    "page_2.png",
    "b.png",
    "10.png",
    "9.png",
    "a1b2",
    "a1b10",
    "ä",
)
RING = KeyRing({"new": bytes(range(32)), "old.one": bytes(32)})
SECRET = "päss word "
_ON_DISK = (".db", ".json", ".key", ".lock", ".log")


def record() -> dict[str, Any]:
    return {
        "keys": golden_keys(),
        "kinds": keys.KINDS,
        "survey": [keys.SURVEY_VERSION, keys.SURVEY_CHUNK, SURVEY_HEAD],
        "stored": STORED,
        "list_begins": LIST_BEGINS.decode(),
        "image_list": ImageList(quire_images=(SHA, OTHER)).model_dump_json(),
        "image_manifest": ImageManifest(
            quire_pages=(ImagePage(sha256=SHA, frame=0), ImagePage(sha256=OTHER, frame=3))
        ).model_dump_json(),
        "natural_order": sorted(FILES, key=natural_key),
        "page_list": format_pages([9, 1, 2, 3, 7]),
        "sealed": _sealed(),
        "state_files": _state_files(),
    }


def golden_keys() -> dict[str, Any]:
    """Every function that names a thing in the store, by its name."""
    return {
        "source_key": keys.source_key(SHA),
        "survey_key": keys.survey_key(SHA, 3),
        "chunk_of": {page: keys.chunk_of(page) for page in (1, 25, 26, 50, 51)},
        "chunk_pages": [keys.chunk_pages(0, 10), keys.chunk_pages(1, 60), keys.chunk_pages(2, 60)],
        "reading_id": [
            keys.reading_id(READING),
            keys.reading_id(ReadingOptions(system_prompt="Rules.")),
            keys.reading_id(ReadingOptions(system_prompt="Rules.", prompt_version=2)),
            keys.reading_id(ReadingOptions(system_prompt="Rules.", text=WRITTEN)),
        ],
        "hyphens_of": [keys.hyphens_of(name) for name in (keys.reading_id(READING), "a-2-join")],
        "brief_id": keys.brief_id(BRIEF),
        "brief_key": keys.brief_key("0123456789abcdef"),
        "answer_key": [
            keys.answer_key(SHA, 7, "reading", "openai", "gpt-6.1-sol"),
            keys.answer_key(SHA, 7, "reading", "openai", "gpt-6.1-sol", 2),
            keys.answer_key(SHA, 7, "reading-2-join", "openai", "gpt-6.1-sol"),
            keys.answer_key(SHA, 7, "reading-2-join", "local", "rapidocr"),
        ],
        "finished_id": [
            keys.finished_id(PLAN, [1, 2, 3, 9], text_only=False),
            keys.finished_id(PLAN, [1, 2, 3, 9], text_only=True),
        ],
        "finished_key": keys.finished_key(SHA, "finished"),
        "text_key": keys.text_key(SHA),
        "document_of": [
            keys.document_of(keys.answer_key(SHA, 7, "reading", "openai", "gpt-6.1-sol")),
            keys.document_of(keys.brief_key("0123456789abcdef")),
            keys.document_of(keys.text_key(SHA)),
        ],
        "quarantine_key": keys.quarantine_key(keys.survey_key(SHA, 3), OTHER),
        "quarantine_folder": [keys.quarantine_folder(), keys.quarantine_folder(SHA)],
        "lease_key": keys.lease_key("upkeep", 7),
        "result_key": [
            keys.result_key("job-7", "text.txt"),
            keys.result_key("job-7", "result.json", 2),
        ],
    }


def _sealed() -> dict[str, Any]:
    """With a nonce that is always the same, so that the whole token can be pinned."""
    payload = Payload(metadata={"encoding": b"json/plain"}, data=b'"text"')
    with patch.object(os, "urandom", lambda size: bytes(range(size))):
        token = RING.seal_text(SECRET, "job-7")
        (encoded,) = finish(SealingCodec(RING).encode([payload]))
    metadata = {name: value.decode() for name, value in sorted(encoded.metadata.items())}
    return {"token": token, "payload": {"metadata": metadata, "data": encoded.data.hex()}}


def _state_files() -> dict[str, Any]:
    """What a single machine keeps in its state folder: its key, and the server's files."""
    with TemporaryDirectory() as folder:
        with patch.dict(
            os.environ, {"HOME": folder, "STATE_DIR": folder, "QUIRE_CONFIG": "none"}, clear=True
        ):
            open_keys(load_settings())
        kept = sorted(path.name for path in Path(folder).iterdir())
        own = (Path(folder) / kept[0]).read_text().partition(":")[0]
    source = Path(inspect.getfile(EmbeddedServer)).read_text(encoding="utf-8")
    texts = {one.value for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Constant)}
    server = sorted(text for text in texts if isinstance(text, str) and text.endswith(_ON_DISK))
    return {"key": kept, "name_of_own_key": own, "server": server}
