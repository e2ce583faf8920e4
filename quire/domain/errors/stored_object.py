"""Objects that the store should hold and does not: errors of the system, as the store's own are."""

import errno


def survey_missing() -> FileNotFoundError:
    """A page was surveyed, and its survey is gone."""
    return _missing("a page's survey is missing from the store")


def answer_missing() -> FileNotFoundError:
    """A page was read, and its answer is gone."""
    return _missing("an answer is missing from the store")


def brief_missing() -> FileNotFoundError:
    """The brief of a document that is being read is gone."""
    return _missing("the document's brief is missing from the store")


def store_folder_vanishes() -> FileNotFoundError:
    """Something keeps removing the store's folder."""
    return _missing("the store's folder keeps vanishing")


def _missing(what: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, what)
