"""Scripts that run in the peers' own environments."""
