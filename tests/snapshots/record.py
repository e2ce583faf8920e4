"""Writes the JSON files anew: `python -m tests.snapshots.record`.

Only with intent. Whatever changes in them is a change that documents under way, stores, scripts
or dashboards of the version before will meet; read the diff, and say in the changelog what it
asks of them. Moving code is no reason to run this.
"""

from tests.snapshots.layout import plain
from tests.snapshots.recorded import SNAPSHOTS, write


def main() -> None:
    for name, make in SNAPSHOTS.items():
        write(name, plain(make()))


if __name__ == "__main__":
    main()
