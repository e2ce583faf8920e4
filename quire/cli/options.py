"""The options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from quire.cli.program import TOOL, version
from quire.contracts.document import ReadingMode


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"{TOOL} {version()}")  # noqa: T201
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Print the version and end."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Standard output holds exactly one JSON object.")
]
Config = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Settings: a .env or .toml, in place of .env and quire.toml here; none reads neither.",
    ),
]
Job = Annotated[str, typer.Argument(help="The job's id.")]
Origins = Annotated[
    list[str],
    typer.Argument(
        help="A PDF, a folder of page images or several, http(s)://, s3://; - for standard input."
    ),
]
Engine = Annotated[str | None, typer.Option(help="openai, anthropic, an extra provider, or local.")]
Password = Annotated[
    str | None,
    typer.Option(
        envvar="QUIRE_PASSWORD", show_envvar=True, help="Opens a locked PDF; blanks count."
    ),
]
PasswordFile = Annotated[
    Path | None, typer.Option(help="A file with the password in its first line; - asks for it.")
]
Prompt = Annotated[str, typer.Option(help="Instructions, added to the rules of transcription.")]
TextOnly = Annotated[bool, typer.Option("--text-only", help="MuPDF's text only.")]
Pages = Annotated[str | None, typer.Option(help="Only these pages: 1-5,9.")]
ModeAsked = Annotated[
    ReadingMode | None,
    typer.Option(
        "--mode",
        help="adaptive: wait for vendors that may soon be back; fail_fast: never wait; hold: wait"
        " until the deadline.",
    ),
]
OneModel = Annotated[
    bool,
    typer.Option("--one-model", help="Read it all by one model, as long as that one is well."),
]
Out = Annotated[Path | None, typer.Option(help="Also write text.txt and result.json here.")]
Text = Annotated[
    bool,
    typer.Option(
        "--text", help="Standard output holds the document's text alone; the report is beside it."
    ),
]
WithText = Annotated[
    bool, typer.Option("--with-text", help="With --json: the text too, whole and of each page.")
]
Owner = Annotated[str, typer.Option(help="The owner of the job.")]
