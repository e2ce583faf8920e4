"""Tests of `quire/app`."""
