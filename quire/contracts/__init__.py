"""Every type that crosses a process border, by who speaks; names that processes agree on."""
