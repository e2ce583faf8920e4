"""Scripts that run in the environments of other tools."""
