"""One command from its words to its exit code, whatever happens under way."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

import typer

from quire.cli.exits import ANSWER, Exit, UsageError, exit_code, print_error, say, show_error
from quire.contracts.codes import Code, ErrorInfo
from quire.domain.errors import QuireError

INTERRUPTED = ErrorInfo(
    code=Code.UNKNOWN,
    reason="INTERRUPTED",
    error_type="retryable",
    message="Interrupted.",
    remedy="What was begun is kept: watch JOB, or process with its --job-id.",
)


def run(work: Coroutine[Any, Any, Exit | None], job_id: str | None = None) -> Exit:
    """Do the work of a command, which is about this job."""
    ANSWER.job_id = job_id
    # A runner that is never closed: closing would cancel what is left of the workers and wait
    # for a server that the last command out has already stopped. The process ends right after.
    return asyncio.Runner().run(_interruptible(work)) or Exit.DONE


async def _interruptible(work: Coroutine[Any, Any, Exit | None]) -> Exit | None:
    """SIGTERM ends a command as Ctrl-C does: in order, and keeping the job."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def call(app: typer.Typer, arguments: list[str]) -> int:
    """The exit code of a command line; every error ends as one line with what to do."""
    try:
        return _call(app, arguments)
    except (BrokenPipeError, SystemExit):
        # Nobody reads any longer, as behind `| head -1`: there is no one to tell about it. Typer
        # and rich turn it into SystemExit. A job that was begun is kept, as with Ctrl-C.
        return Exit.PIPE_CLOSED


def _call(app: typer.Typer, arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        code = int(app(arguments, standalone_mode=False) or 0)
        if code == Exit.INTERRUPTED:
            # What Typer makes of Ctrl-C, without a word.
            raise KeyboardInterrupt
        return code
    except QuireError as error:
        show_error(error.info, as_json=as_json)
        return exit_code(error)
    except (KeyboardInterrupt, asyncio.CancelledError, typer.Abort):
        say(f"{INTERRUPTED.message} {INTERRUPTED.remedy}")
        if as_json:
            print_error(INTERRUPTED, "interrupted")
        return Exit.INTERRUPTED
    except typer.Exit as leaving:
        return leaving.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        if hasattr(error, "format_message"):
            words = str(error.format_message())
            if words:  # without words, the help has just been shown
                show_error(UsageError(words.rstrip(".") + ".").info, as_json=as_json)
            return Exit.USAGE
        show_error(_our_fault(error), as_json=as_json)
        return Exit.OUR_FAULT


def _our_fault(error: Exception) -> ErrorInfo:
    from temporalio.service import RPCError

    if isinstance(error, RPCError):
        from quire.temporal.connect import refused_by_temporal

        return refused_by_temporal(error).info
    if isinstance(error, OSError) and error.filename:
        # A folder that a setting names, most likely; which one, only its path can tell.
        return ErrorInfo(
            code=Code.IO_ERROR,
            reason="STORAGE",
            error_type="retryable",
            message=f"{error.strerror}: {error.filename}.",
            remedy="Check the path and its permissions; STATE_DIR and STORE_URL name folders.",
        )
    import structlog

    structlog.get_logger("quire").exception("command_broke")
    return ErrorInfo(
        code=Code.UNKNOWN,
        reason="BUG",
        error_type="retryable",
        message=f"Quire failed: {type(error).__name__}.",
        remedy="Please report it with the lines above.",
    )


def leave(code: int) -> None:
    """End the process."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = Exit.PIPE_CLOSED
    # Interpreter teardown after the SDK's threads have run can crash (sdk-python issue 300).
    os._exit(code)
