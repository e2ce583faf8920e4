"""select_routes: the selection as a local activity.

The rules are pure and could run inside the workflow; recorded as an activity's result they may
change between deploys without breaking the replay of documents under way.
"""

from temporalio import activity

from quire.contracts.selection import Selection, Snapshot
from quire.domain.routing.selection import select


@activity.defn
async def select_routes(snapshot: Snapshot) -> Selection:
    """Which page goes to which route now, and when to look again."""
    return select(snapshot)
