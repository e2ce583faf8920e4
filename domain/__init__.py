"""Pure rules and wire types: no clock, no I/O, no environment."""
