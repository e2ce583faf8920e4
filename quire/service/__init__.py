"""The background service of a state folder: a server and workers that all its commands share."""
