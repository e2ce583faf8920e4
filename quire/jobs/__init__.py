"""The application: what people can ask for. Typed in and out; no printing and no exit codes."""
