"""The connection of a command, which says what a person should know about it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from quire.cli.output import Answer, say
from quire.contracts.names import ROLES
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.jobs.session import Jobs


def roles_to_leave(settings: Settings) -> tuple[str, ...]:
    """The roles of a command that starts something and ends before it is done: a service goes on
    with it, and without one this process would do no more than begin it."""
    return () if settings.service_mode == "off" else ROLES


@asynccontextmanager
async def connected(
    settings: Settings,
    answer: Answer,
    roles: tuple[str, ...] = ROLES,
    *,
    own_settings: bool = True,
) -> AsyncIterator["Jobs"]:
    """The connection of `open_jobs`, for a command that may be interrupted."""
    from quire.jobs.session import open_jobs

    async with open_jobs(settings, roles, own_settings=own_settings) as jobs:
        answer.goes_on = jobs.service
        if jobs.notice:
            say(jobs.notice)
        yield jobs
