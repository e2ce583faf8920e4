"""The person's tool, from a checkout; installed, it is `quire`."""

from quire.cli.main import app, main

__all__ = ["app", "main"]

if __name__ == "__main__":
    main()
