"""The version, in a module light enough for every other to import."""

VERSION = "0.1.0"
DATE = "2026-11-16"
"""When that version was released; CITATION.cff and the changelog say the same (tests/test_release.py)."""
