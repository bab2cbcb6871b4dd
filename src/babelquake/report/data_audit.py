"""What the MT study found wrong with the test set itself (Jwalapuram 2023 §3.1), in words."""

from babelquake.report.table import Table
from babelquake.runs.run import Run

SHARES = {
    "mismatched_endings": "source and reference end in different kinds of marks",
    "duplicate_sources": "duplicate sources",
    "blank_sources": "blank sources",
}
ENDINGS = {
    "stop": "a full stop",
    "question": "a question mark",
    "exclamation": "an exclamation mark",
    "other": "another mark",
    "none": "no mark",
}
NOTE = "Segments whose source and reference end differently make punctuation results hard to read."


def audit_facts(run: Run) -> dict[str, str]:
    """What was looked at → what was found; empty where a run kept no audit. Without references no endings differ."""
    if (found := run.info.facts.audit) is None:
        return {}
    shares = {text: f"{share:.1f} %" for name, text in SHARES.items() if (share := getattr(found, name)) is not None}
    counts = found.endings
    ends = [f"{text} {counts[kind]:,}" for kind, text in ENDINGS.items() if counts.get(kind)]
    return {**shares, "sources end in": ", ".join(ends)} if ends else shares


def audit_tables(run: Run) -> list[Table]:
    """The same as a table, or none."""
    found = audit_facts(run)
    return [Table("Test set", ("what", "found"), tuple(found.items()), NOTE)] if found else []
