"""Signatures of starts: bound to every field and to the id, by keys that clients agree on."""

import asyncio
import base64
from pathlib import Path

import pytest
from pydantic import SecretStr

from quire.contracts.document import DocumentRequest, ReplacedRun, RetryRequest
from quire.contracts.names import SIGNING_KEY
from quire.settings import Settings
from quire.store.folder import FolderStore
from quire.temporal.signature import StartKeys, is_signed, sign

KEYS = {"new": b"n" * 32, "old": b"o" * 32}
REQUEST = DocumentRequest(job_id="a", source="https://example.test/a.pdf", user_id="ana")
# Another value for every field of a request.
CHANGES = {
    "job_id": "b",
    "source": "https://example.test/b.pdf",
    "source_name": "b.pdf",
    "user_id": "bo",
    "engine": "anthropic",
    "tier": "fast",
    "instructions": "Other.",
    "text_only": True,
    "deadline_s": 60.0,
    "pages": "1-2",
    "force": True,
    "sealed_password": "q1.x.y",
    "retry": RetryRequest(pages="1"),
    "replaced": (ReplacedRun(salt="run"),),
    "mode": "hold",
    "one_model": True,
}


def test_signature_holds_for_its_request_and_id_alone() -> None:
    signature = sign(KEYS, REQUEST, "document-a")
    assert is_signed(KEYS, signature, REQUEST, "document-a")
    assert not is_signed(KEYS, signature, REQUEST, "document-b")
    assert set(CHANGES) == set(DocumentRequest.model_fields), "every field is tried"
    for name, value in CHANGES.items():
        changed = REQUEST.model_copy(update={name: value})
        assert not is_signed(KEYS, signature, changed, "document-a"), name


def test_request_is_the_same_after_its_way_through_history() -> None:
    request = REQUEST.model_copy(update={**CHANGES, "instructions": "čitaj – 読む"})
    read = DocumentRequest.model_validate_json(request.model_dump_json())
    assert is_signed(KEYS, sign(KEYS, request, "document-b"), read, "document-b")


def test_field_that_a_client_does_not_know_yet_changes_nothing() -> None:
    class Newer(DocumentRequest):
        language: str | None = None

    newer = Newer(**REQUEST.model_dump())
    signature = sign(KEYS, REQUEST, "document-a")
    assert is_signed(KEYS, signature, newer, "document-a")


def test_keys_can_be_changed() -> None:
    by_old = sign({"old": KEYS["old"]}, REQUEST, "document-a")
    assert is_signed(KEYS, by_old, REQUEST, "document-a"), "all keys verify, the first one signs"
    assert not is_signed({"new": KEYS["new"]}, by_old, REQUEST, "document-a")
    assert not is_signed({"old": KEYS["new"]}, by_old, REQUEST, "document-a")


@pytest.mark.parametrize("damaged", ["", "q1", "q1..", "q1.new.", "q2.new.AAAA", "q1.new.é", "..."])
def test_what_is_no_signature_is_refused(damaged: str) -> None:
    assert not is_signed(KEYS, damaged, REQUEST, "document-a")


def of_cluster(tmp_path: Path, keys: str = "") -> Settings:
    return Settings(
        temporal_address="127.0.0.1:1", state_dir=tmp_path, encryption_keys=SecretStr(keys)
    )


async def test_clients_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    settings = of_cluster(tmp_path / "state")
    clients = [StartKeys(settings, FolderStore(tmp_path / "store")) for _ in range(12)]
    found = await asyncio.gather(*(client.read(create=True) for client in clients))
    assert all(keys == found[0] for keys in found)
    assert len(found[0]["store"]) == 32
    # `clean` removes what has not been used for long, by kind: the key is of none.
    assert (tmp_path / "store" / SIGNING_KEY).is_file()


async def test_worker_makes_no_key(tmp_path: Path) -> None:
    keys = StartKeys(of_cluster(tmp_path / "state"), FolderStore(tmp_path / "store"))
    assert await keys.read(create=False) == {}
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("damaged", [b"", b"short", b"k" * 33])
async def test_damaged_key_is_made_again(tmp_path: Path, damaged: bytes) -> None:
    """A client does that before it starts a job; a worker waits for it."""
    store = FolderStore(tmp_path / "store")
    await store.put(SIGNING_KEY, damaged)
    keys = StartKeys(of_cluster(tmp_path / "state"), store)
    with pytest.raises(OSError, match="damaged"):
        await keys.read(create=False)
    made = await keys.read(create=True)
    assert len(made["store"]) == 32
    assert await keys.read(create=False) == made


async def test_encryption_keys_sign_where_they_are_set(tmp_path: Path) -> None:
    encoded = base64.b64encode(KEYS["new"]).decode()
    settings = of_cluster(tmp_path / "state", f"new:{encoded}")
    keys = StartKeys(settings, FolderStore(tmp_path / "store"))
    assert await keys.read(create=True) == {"new": KEYS["new"]}
    assert not (tmp_path / "store").exists()


async def test_single_machine_signs_with_its_key_file(tmp_path: Path) -> None:
    settings = Settings(temporal_address="", state_dir=tmp_path)
    keys = await StartKeys(settings, FolderStore(tmp_path / "store")).read(create=True)
    assert list(keys) == ["own"]
    assert (tmp_path / "encryption.key").stat().st_mode & 0o777 == 0o600
