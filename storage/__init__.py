"""The content-addressed store: one small protocol, and where it lives."""
