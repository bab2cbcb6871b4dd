"""The version, in a module light enough for every other to import."""

VERSION = "0.1.0"
