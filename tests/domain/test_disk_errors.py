"""A disk that takes no more, in words."""

import errno

import pytest

from quire.domain import errors


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "is full"),
        (errno.EDQUOT, "has no quota left for this user"),
        (errno.EROFS, "is mounted read-only"),
    ],
)
def test_the_place_is_named_and_its_path_only_where_it_stays(number: int, words: str) -> None:
    with pytest.raises(errors.DiskFull) as raised, errors.disk_errors("STORE_URL", "/data/store"):
        raise OSError(number, "from the system")
    full = raised.value
    assert full.message == f"The disk of the store (STORE_URL) {words}."
    assert errors.with_folder(full).message == (
        f"The disk of the store (STORE_URL) {words}: /data/store."
    )
    assert "/data" not in full.info.line(), "history and results hold no path"


def test_an_outer_place_does_not_take_the_blame_of_an_inner_one() -> None:
    with (
        pytest.raises(errors.DiskFull, match="RESULTS_URL"),
        errors.disk_errors("TMPDIR", "/tmp"),
        errors.disk_errors("RESULTS_URL", "/out"),
    ):
        raise OSError(errno.ENOSPC, "from the system")


def test_other_errors_are_left_as_they_are() -> None:
    with pytest.raises(PermissionError), errors.disk_errors("STORE_URL", "/data"):
        raise PermissionError(errno.EACCES, "from the system")


def test_only_results_are_copied_by_another_command() -> None:
    full = OSError(errno.ENOSPC, "from the system")
    assert "quire result" in errors.disk_full(full, "--out").remedy
    assert "start the job again" in errors.disk_full(full, "STATE_DIR").remedy
