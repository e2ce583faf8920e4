"""The options and arguments that commands of batches share."""

from pathlib import Path
from typing import Annotated

import typer

BatchId = Annotated[str, typer.Argument(metavar="BATCH", help="The batch's id.")]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="PDFs, folders (with all below them), globs, s3://bucket/prefix/, https://, or "
        "manifests (.jsonl, .csv).",
    ),
]
BatchOut = Annotated[
    Path | None,
    typer.Option("--out", help="Also write here: a folder a document, and the rows of all."),
]
MaxCost = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, help="Dollars: once they are spent, nothing is started."),
]
FollowLinks = Annotated[
    bool, typer.Option("--follow-links", help="Follow symbolic links in folders.")
]
