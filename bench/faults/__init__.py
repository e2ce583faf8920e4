"""Faults: the real thing done to real processes, and what was lost.

A module is a kind of fault. Its `lines` tries it and returns a line for each fault of that kind.
"""
