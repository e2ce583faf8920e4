"""Rules, pure: no clock, no chance, no I/O."""
