"""Every type that crosses a process border or is stored, by who writes it and who reads it.

A module says both in its docstring. Names that processes agree on are in `names`."""
