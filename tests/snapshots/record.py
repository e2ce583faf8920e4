"""Records the JSON files again: `python -m tests.snapshots.record --write`.

Only with intent. Whatever changes in them is a change that documents under way, stores, scripts
or dashboards of the version before will meet; read the diff, and say in the changelog what it
asks of them. Moving code is no reason to run this. Without `--write`, only the names of the files
that would change are printed.
"""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from tests.snapshots.layout import plain
from tests.snapshots.recorded import SNAPSHOTS, path_of, text_of


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(
        prog="python -m tests.snapshots.record",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--write", action="store_true", help="write the files that changed")
    write = parser.parse_args(arguments).write
    texts = {path_of(name): text_of(plain(make())) for name, make in SNAPSHOTS.items()}
    changed = [
        path
        for path, text in texts.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in changed:
        if write:
            path.write_text(texts[path], encoding="utf-8")
        sys.stdout.write(f"{'written' if write else 'would change (--write)'}: {path.name}\n")
    if not changed:
        sys.stdout.write("Nothing changed.\n")


if __name__ == "__main__":
    main()
