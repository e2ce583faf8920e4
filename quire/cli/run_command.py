"""Runs one command, and turns whatever happens into an exit code and one clear line."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import typer

from quire.cli.output import Answer, Exit, exit_code, say
from quire.cli.program import as_called, tool_name
from quire.contracts.codes import ErrorInfo
from quire.domain import errors
from quire.domain.errors import QuireError
from quire.settings import Settings, load_settings
from quire.stop_signals import on_stop_signals
from quire.telemetry.logs import configure_logs


def command_settings() -> Settings:
    """The settings of a command, with logs set up for a person's terminal."""
    settings = load_settings()
    # In a terminal, the workers in this process log errors only.
    level = settings.log_level if "log_level" in settings.model_fields_set else "error"
    configure_logs(level, settings.log_format)
    return settings


def run(work: Coroutine[Any, Any, Exit | None]) -> Exit:
    """Run the work of a command in an event loop."""
    # The runner is never closed: that would cancel the remaining tasks of the workers and wait for
    # a server that the last command has already stopped. The process ends right after.
    return asyncio.Runner().run(_interruptible(work)) or Exit.DONE


async def _interruptible(work: Coroutine[Any, Any, Exit | None]) -> Exit | None:
    """SIGTERM and SIGHUP end a command as Ctrl-C does: in order, and keeping the job."""
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"

    def stop() -> None:
        # Once: a terminal that closes sends more than one, and the way out must not be cut short.
        if not task.cancelling():
            task.cancel()

    on_stop_signals(stop, signal.SIGTERM)
    return await work


def call(app: typer.Typer, arguments: list[str]) -> int:
    """The exit code of a command line; every error ends as one line with its remedy."""
    try:
        return _call(app, arguments)
    except (BrokenPipeError, SystemExit) as leaving:
        if isinstance(leaving, SystemExit) and leaving.code == 0:
            return Exit.DONE  # shell completion ends so
        # The reader of the output is gone, as with `| head -1`, so nothing is printed. Typer and
        # rich raise SystemExit for it. A job that was started is kept, as with Ctrl-C.
        return Exit.PIPE_CLOSED


def _call(app: typer.Typer, arguments: list[str]) -> int:
    answer, as_json = Answer(), "--json" in arguments

    def show(info: ErrorInfo) -> None:
        """Print one clear line, and with `--json` the one JSON object."""
        info = info.model_copy(update={"remedy": as_called(info.remedy)})
        say(info.line())
        if as_json:
            answer.print_error(info)

    try:
        ran = app(arguments, prog_name=tool_name(), standalone_mode=False, obj=answer)
        code = int(ran or 0)
        if code == Exit.INTERRUPTED:
            # Typer returns this code on Ctrl-C, silently.
            raise KeyboardInterrupt
        return code
    except QuireError as error:
        named = errors.with_folder(error) if isinstance(error, errors.DiskFull) else error
        show(named.info)
        return exit_code(error)
    except (KeyboardInterrupt, asyncio.CancelledError, typer.Abort):
        interrupted = errors.interrupted(answer.job_id).info
        words = as_called(interrupted.remedy)
        say(f"{interrupted.message} {words}")
        if as_json:
            stopped = interrupted.model_copy(update={"remedy": words})
            answer.print_error(stopped, "interrupted")
        return Exit.INTERRUPTED
    except typer.Exit as leaving:
        return leaving.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if hasattr(error, "format_message"):
            words = str(error.format_message())
            if words:  # an empty message follows the help text
                show(errors.UsageError(words.rstrip(".") + ".").info)
            return Exit.USAGE
        show(_our_fault(error).info)
        return Exit.OUR_FAULT


def _our_fault(error: Exception) -> QuireError:
    if isinstance(error, OSError) and error.filename:
        return errors.folder_unusable(error)
    if isinstance(error, OSError) and errors.is_disk_full(error):
        # Every other place names itself.
        return errors.disk_full(error, "TMPDIR")
    import structlog

    if not structlog.is_configured():
        # The default shows the values of variables, secrets among them.
        configure_logs("error", "console")
    structlog.get_logger("quire").exception("command_broke")
    return errors.command_broke(error)


def leave(code: int) -> None:
    """End the process."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = Exit.PIPE_CLOSED
    except OSError:  # a terminal that is gone
        pass
    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    os._exit(code)
