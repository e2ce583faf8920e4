"""Public codes, kinds of failures, what each means, and the documented reasons."""

import re
from pathlib import Path
from typing import Any, get_args

from quire.contracts.codes import Code, ErrorType, FailureKind
from quire.domain.errors import MEANING, entries

DOCUMENTED = Path(__file__).parents[2] / "docs" / "errors.md"
_ROW = re.compile(r"^\| `([A-Z0-9_]+)` \| `([A-Z0-9_]+)` \|", re.MULTILINE)


def record() -> dict[str, Any]:
    return {
        "codes": {code.name: code.value for code in Code},
        "error_types": sorted(get_args(ErrorType)),
        "our_faults": sorted({entry.reason for entry in entries() if entry.ours}),
        "kinds": {kind.name: kind.value for kind in FailureKind},
        "meaning": {kind.value: _meaning(kind) for kind in FailureKind},
        "documented": _documented(),
    }


def _meaning(kind: FailureKind) -> dict[str, Any]:
    facts = MEANING[kind]._asdict()
    # A remedy is for people, and may be reworded.
    return {name: value for name, value in facts.items() if name != "remedy"}


def _documented() -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for code, reason in sorted(_ROW.findall(DOCUMENTED.read_text(encoding="utf-8"))):
        reasons.setdefault(code, []).append(reason)
    return reasons
