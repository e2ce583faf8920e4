"""`doctor`: check the installation."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.options import AsJson
from quire.cli.output import Exit
from quire.cli.program import as_called
from quire.cli.run_command import command_settings, run

if TYPE_CHECKING:
    from quire.jobs.finding import Finding

Heal = Annotated[
    bool, typer.Option("--heal", help="Start documents that are stuck again, each once.")
]
MARKS = {True: ("ok  ", "green"), False: ("FAIL", "red"), None: ("--  ", "dim")}


def doctor(context: typer.Context, heal: Heal = False, as_json: AsJson = False) -> Exit:
    """Check Temporal, store, engines, settings and open documents, and say what to do about what
    fails."""
    settings = command_settings()

    async def work() -> Exit:
        from quire.jobs.doctor import examine
        from quire.jobs.heal import check_documents

        findings = await examine(settings)
        findings += await check_documents(settings, heal=heal)
        failed = [finding for finding in findings if finding.ok is False]
        if as_json:
            checks = [asdict(_as_called(finding)) for finding in findings]
            context.obj.print_json({"ok": not failed, "checks": checks})
        else:
            _show(findings)
        return Exit.USAGE if failed else Exit.DONE

    return run(work())


def _show(findings: "list[Finding]") -> None:
    from rich.text import Text

    from quire.cli.screen import screen

    for finding in findings:
        # A remedy that is a sentence follows one.
        end = "." if finding.remedy[:1].isupper() and not finding.detail.endswith(".") else ""
        words = f" {finding.name}: {finding.detail}{end} {as_called(finding.remedy)}".rstrip()
        screen().print(Text.assemble(MARKS[finding.ok], words))


def _as_called(finding: "Finding") -> "Finding":
    return replace(finding, remedy=as_called(finding.remedy))
