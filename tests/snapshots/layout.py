"""JSON that is easy to compare: how it is laid out, and how two of them differ."""

import json
from collections.abc import Iterator
from typing import Any

WIDTH = 100
ABSENT = "nothing"


def plain(value: Any) -> Any:
    """As it comes back from a file: tuples are lists, keys are strings."""
    return json.loads(json.dumps(value))


def differences(was: Any, now: Any, where: str) -> Iterator[str]:
    """One line for each place that changed, appeared or went."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}):
            yield from differences(was.get(key, ABSENT), now.get(key, ABSENT), f"{where}.{key}")
        return
    # As text: to Python 1, 1.0 and True are the same.
    old, new = _flat(was), _flat(now)
    if old != new:
        same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        # Of what is long, the part around the first difference.
        part = slice(max(0, same - 40), same + 80)
        yield f"{where}: was {old[part]} and is {new[part]}"


def layout(value: Any, indent: int = 0, before: int = WIDTH) -> str:
    """Sorted; a part that fits in a line has one, so that a change is a change of few lines."""
    flat = _flat(value)
    if not value or not isinstance(value, (dict, list)) or before + len(flat) < WIDTH:
        return flat
    inner, pad = indent + 2, " " * (indent + 2)
    if isinstance(value, list):
        lines = [pad + layout(part, inner, inner) for part in value]
    else:
        begun = [(f"{pad}{_flat(str(key))}: ", part) for key, part in sorted(value.items())]
        lines = [begin + layout(part, inner, len(begin)) for begin, part in begun]
    begin, end = "[]" if isinstance(value, list) else "{}"
    return f"{begin}\n" + ",\n".join(lines) + f"\n{' ' * indent}{end}"


def _flat(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
