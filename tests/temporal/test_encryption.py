"""Secrets open with the right key, in the right job, and not otherwise."""

import base64
import os
import threading
from pathlib import Path

import pytest

from quire.domain.errors import QuireError, SettingsError
from quire.settings import Settings
from quire.settings.encryption_keys import parse_keys
from quire.temporal.encryption import KeyRing, open_keys


def key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def ring(*keys: str) -> KeyRing:
    return KeyRing(parse_keys(",".join(keys)))


def test_what_is_sealed_opens_again() -> None:
    keys = ring(f"a:{key()}")
    token = keys.seal_text("  päss. ", "job-1")
    assert "päss" not in token
    assert keys.open_text(token, "job-1") == "  päss. "
    assert keys.seal_text("  päss. ", "job-1") != token, "never twice the same"


def test_not_in_another_job() -> None:
    keys = ring(f"a:{key()}")
    token = keys.seal_text("secret", "job-1")
    with pytest.raises(QuireError, match="cannot be opened"):
        keys.open_text(token, "job-2")


@pytest.mark.parametrize("damage", [0, 5, -5])
def test_not_when_damaged(damage: int) -> None:
    keys = ring(f"a:{key()}")
    token = keys.seal_text("secret", "job")
    letters = list(token)
    letters[damage] = "A" if letters[damage] != "A" else "B"
    with pytest.raises(QuireError):
        keys.open_text("".join(letters), "job")


def test_keys_rotate() -> None:
    old, new = f"2026.a:{key()}", f"2026.b:{key()}"
    token = ring(old).seal_text("secret", "job")
    rotated = ring(new, old)
    assert rotated.open_text(token, "job") == "secret"
    assert rotated.seal_text("secret", "job").startswith("q1.2026.b.")
    with pytest.raises(QuireError) as caught:
        ring(new).open_text(token, "job")
    assert "2026.a" in caught.value.info.message


@pytest.mark.parametrize(
    "text",
    ["nokey", "a:short", ":" + key(), "a:" + key() + ",a:" + key()],
    ids=["no key", "short", "no id", "same id twice"],
)
def test_impossible_keys_are_refused_unseen(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_keys(text)
    assert text.rpartition(":")[2] not in caught.value.info.line()


def test_one_machine_makes_one_key_even_if_two_commands_want_it(tmp_path: Path) -> None:
    rings: list[KeyRing] = []

    def make() -> None:
        rings.append(open_keys(Settings(state_dir=tmp_path / "state")))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    token = rings[0].seal_text("secret", "job")
    assert [each.open_text(token, "job") for each in rings] == ["secret"] * 8
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["encryption.key"]


def test_a_cluster_needs_keys(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="ENCRYPTION_KEYS"):
        open_keys(Settings(state_dir=tmp_path, temporal_address="127.0.0.1:7233"))
