"""What a start without a signature may ask for, and which files a worker may read."""

from pathlib import Path

import pytest

from quire.contracts.document import DocumentRequest, RetryRequest
from quire.domain import errors
from quire.domain.document.unsigned import UnsignedRules, check_unsigned
from quire.settings import load_settings
from quire.sources.roots import under_roots

RULES = UnsignedRules(
    accepted=True,
    roots=("/data/in", "/srv/scans/"),
    own_places=("s3://quire/store", "/var/lib/quire/results"),
)
REQUEST = DocumentRequest(job_id="a", source="https://example.test/a.pdf")


def reason(origin: str, rules: UnsignedRules = RULES) -> str:
    try:
        check_unsigned(REQUEST.model_copy(update={"source": origin}), "document-a", rules)
    except errors.StartRefused as error:
        return error.info.reason
    return ""


@pytest.mark.parametrize(
    "origin",
    [
        "https://example.test/a.pdf", "HTTPS://example.test/a.pdf", "s3://bucket/a.pdf",
        "s3://quire/storeroom/a.pdf", "/data/in/a.pdf", "/data/in/deep/a.pdf", "/srv/scans/a.pdf",
    ],
)  # fmt: skip
def test_open_origins(origin: str) -> None:
    assert reason(origin) == ""


@pytest.mark.parametrize(
    "origin",
    [
        "http://example.test/a.pdf", "HTTP://example.test/a.pdf", "store:" + "0" * 64,
        "s3://quire/store/sources/00/00", "S3://bucket/a.pdf", "ftp://example.test/a.pdf",
        "file:///data/in/a.pdf", "/etc/passwd", "/data/in", "/data/inner/a.pdf",
        "/data/in/../secret.pdf", "data/in/a.pdf", "../data/in/a.pdf", "//data/out/a.pdf", "",
    ],
)  # fmt: skip
def test_closed_origins(origin: str) -> None:
    assert reason(origin) == "UNSIGNED_ORIGIN"


def test_without_roots_no_path_is_open() -> None:
    assert reason("/data/in/a.pdf", UnsignedRules(accepted=True)) == "UNSIGNED_ORIGIN"


def test_nothing_is_open_by_default() -> None:
    assert reason("https://example.test/a.pdf", UnsignedRules(accepted=False)) == "UNSIGNED"


def test_result_of_another_job_cannot_be_written() -> None:
    with pytest.raises(errors.StartRefused, match="workflow id"):
        check_unsigned(REQUEST, "document-b", RULES)


def test_retry_of_a_finished_job_needs_a_signature() -> None:
    with pytest.raises(errors.StartRefused, match="retry"):
        check_unsigned(REQUEST.model_copy(update={"retry": RetryRequest()}), "document-a", RULES)


def test_links_are_followed_before_the_file_is_judged(tmp_path: Path) -> None:
    root, secret = tmp_path / "in", tmp_path / "secret.pdf"
    root.mkdir()
    secret.write_bytes(b"%PDF")
    (root / "a.pdf").write_bytes(b"%PDF")
    (root / "inside.pdf").symlink_to(root / "a.pdf")
    (root / "escape.pdf").symlink_to(secret)
    (root / "up").symlink_to(tmp_path)
    roots = (str(root),)
    assert under_roots(root / "a.pdf", roots) == root / "a.pdf"
    assert under_roots(root / "inside.pdf", roots) == root / "a.pdf"
    for name in ("escape.pdf", "up/secret.pdf", "../secret.pdf", "up/absent.pdf"):
        with pytest.raises(errors.StartRefused):
            under_roots(root / name, roots)
    with pytest.raises(errors.StartRefused):
        under_roots(secret, ())
    # A root that is itself a link, as of a mounted volume.
    (tmp_path / "link").symlink_to(root)
    assert under_roots(root / "a.pdf", (str(tmp_path / "link"),)) == root / "a.pdf"


@pytest.mark.parametrize("roots", ["scans", "/data,scans", "/"])
def test_roots_are_absolute_folders(roots: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_ROOTS", roots)
    with pytest.raises(errors.SettingsError, match="SOURCE_ROOTS"):
        load_settings()
