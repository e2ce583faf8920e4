"""Serves the queues, from a checkout; installed, it is `quire-worker`."""

from quire.cli.worker import app, main

__all__ = ["app", "main"]

if __name__ == "__main__":
    main()
