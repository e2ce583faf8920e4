"""MuPDF, imported in child processes only. Its type hints are partial, so it is Any here."""

from importlib import import_module
from typing import Any

pymupdf: Any = import_module("pymupdf")
