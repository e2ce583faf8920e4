"""The person's tool: a file a command, over `quire.jobs`.

Commands import what they use when they run: help and refusals must not wait for Temporal's SDK.
"""
