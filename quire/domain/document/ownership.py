"""Who may change a job. The rule that the application, the workflow and the activities share."""


def may_change(*, owner: str, caller: str) -> bool:
    """Whether the caller may retry or cancel the owner's job. Jobs without an owner belong to
    callers without a name."""
    return owner == caller
