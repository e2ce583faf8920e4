"""The connection to Temporal, and what it needs."""
