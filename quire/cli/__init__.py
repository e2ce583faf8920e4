"""The command-line tool: one file a command, over `quire.jobs`.

Commands import what they need when they run: help and refusals must not wait for Temporal's SDK.
"""
