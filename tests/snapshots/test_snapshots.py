"""Nothing that others rely on has changed."""

import inspect
import json
from pathlib import Path

import pytest

from quire.domain.document import keys
from tests.snapshots import record, recorded
from tests.snapshots.keys import RING, SECRET, golden_keys
from tests.snapshots.layout import differences, plain
from tests.snapshots.recorded import SNAPSHOTS, read


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_it_is_as_it_was_recorded(name: str) -> None:
    changed = list(differences(read(name), plain(SNAPSHOTS[name]()), name))
    assert not changed, "\n".join(["See tests/snapshots/record.py if this is meant:", *changed])


def test_every_key_is_pinned() -> None:
    ours = inspect.getmembers(keys, inspect.isfunction)
    public = {
        name for name, one in ours if one.__module__ == keys.__name__ and not name.startswith("_")
    }
    assert public == set(golden_keys())


def test_a_secret_sealed_before_still_opens() -> None:
    assert RING.open_text(read("keys")["sealed"]["token"], "job-7") == SECRET


def test_nothing_recorded_hangs_on_a_class_of_ours() -> None:
    text = json.dumps({name: read(name) for name in SNAPSHOTS})
    assert "$ref" not in text
    assert "<class" not in text


def test_files_are_written_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    old = tmp_path / "names.json"
    old.write_text("{}\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        record.main(["--help"])
    record.main([])
    assert [path.name for path in tmp_path.iterdir()] == ["names.json"]
    assert old.read_text(encoding="utf-8") == "{}\n"
    assert "would change (--write): names.json" in capsys.readouterr().out
    record.main(["--write"])
    assert {path.stem for path in tmp_path.iterdir()} == set(SNAPSHOTS)
    assert plain(SNAPSHOTS["names"]()) == read("names")
    capsys.readouterr()
    record.main([])
    assert capsys.readouterr().out == "Nothing changed.\n"
