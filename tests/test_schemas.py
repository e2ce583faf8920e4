"""docs/schemas is what the code says, and the examples of the guide fit it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest
from tools.write_schemas import FOLDER, READ, WRITTEN, schemas

ROOT = Path(__file__).resolve().parents[1]
CHECK = Path(sys.executable).with_name("check-jsonschema")
GUIDE = (ROOT / "docs/integration.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- schema: ([\w-]+) -->\n```json\n(.*?)```", GUIDE, re.DOTALL)


def check(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CHECK, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_schemas_are_written_from_the_code() -> None:
    stored = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).iterdir()}
    assert stored == schemas(), "run: make docs"


def test_schemas_are_schemas() -> None:
    ran = check("--check-metaschema", *(ROOT / FOLDER).iterdir())
    assert ran.returncode == 0, ran.stdout


def test_every_schema_but_one_has_an_example() -> None:
    # `result.json` is long: the test of the guide checks a real one.
    assert {name for name, _ in EXAMPLES} == {*WRITTEN, *READ} - {"result"}
    assert GUIDE.count("```json") == len(EXAMPLES)


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_examples_fit_schema_and_code(name: str, example: str, tmp_path: Path) -> None:
    path = tmp_path / "example.json"
    path.write_text(example)
    ran = check("--schemafile", ROOT / FOLDER / f"{name}.json", path)
    assert ran.returncode == 0, ran.stdout
    models: dict[str, type[BaseModel]] = {**WRITTEN, **READ, "request": DocumentRun}
    model = models[name]
    model.model_validate_json(example)
    if name in READ:
        assert set(json.loads(example)) == set(model.model_fields), "an example shows every field"


def test_misspelt_field_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "example.json"
    path.write_text('{"job_id": "a", "source": "b", "page": "1"}')
    assert check("--schemafile", ROOT / FOLDER / "request.json", path).returncode == 1


def test_every_field_of_a_request_is_explained() -> None:
    section = GUIDE.partition("## The request")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", section))
    assert set(DocumentRequest.model_fields) <= named
