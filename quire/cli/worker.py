"""quire-worker: serves the queues of a cluster (or of this machine's embedded server)."""

import asyncio
import os
import sys
from contextlib import suppress
from typing import Annotated

import typer

from quire.cli.options import Config, Version
from quire.cli.program import as_called, worker_name
from quire.contracts.names import ROLES
from quire.domain.errors import QuireError
from quire.settings import load_settings, use_config
from quire.telemetry.logs import configure_logs
from quire.worker_process import register, serve

app = typer.Typer(add_completion=False, help=__doc__)


@app.command()
def worker(
    roles: Annotated[
        str, typer.Option(help="Which queues to serve, comma-separated: " + ", ".join(ROLES))
    ] = ",".join(ROLES),
    register_only: Annotated[
        bool,
        typer.Option("--register", help="Only add the search attributes to TEMPORAL_NAMESPACE."),
    ] = False,
    config: Config = None,
    _version: Version = False,
) -> None:
    """Serve the queues until stopped."""
    chosen = tuple(part.strip() for part in roles.split(",") if part.strip())
    unknown = [role for role in chosen if role not in ROLES]
    if unknown or not chosen:
        raise typer.BadParameter(f"{roles!r}: choose from {', '.join(ROLES)}", param_hint="--roles")
    if config is not None:
        use_config(config)
    settings = load_settings()
    configure_logs(settings.log_level, settings.log_format)
    asyncio.run(register(settings) if register_only else serve(settings, chosen))


def main() -> None:
    """Run the command and end the process with its exit code."""
    code = 0
    try:
        app(prog_name=worker_name(), standalone_mode=False)
    except QuireError as error:
        sys.stderr.write(as_called(error.info.line()) + "\n")
        code = 2
    except typer.Exit as leaving:
        code = leaving.exit_code
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        sys.stderr.write(f"{error.format_message()}\n")
        code = 2
    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    with suppress(OSError):  # a terminal that is gone
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
