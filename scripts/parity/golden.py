"""Where the official numbers are kept: one small JSON file a scorer, read by the ordinary tests."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "tests" / "scorers" / "golden"
DIGITS = 7


def keep(scorer: str, made_by: str, scores: Mapping[str, Sequence[float]], **more: Any) -> None:
    """Write the scores of every small checkpoint, and by what they were made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    rounded = {name: [round(float(score), DIGITS) for score in column] for name, column in scores.items()}
    lines = [f'"made_by": {json.dumps(made_by)}']
    lines += [f'"{key}": {json.dumps(value, ensure_ascii=False, separators=(",", ":"))}' for key, value in more.items()]
    inner = ",\n".join(f'"{name}": {json.dumps(column, separators=(",", ":"))}' for name, column in rounded.items())
    lines.append(f'"scores": {{\n{inner}\n}}')
    (FOLDER / f"{scorer}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    print(f"{scorer}: {sum(map(len, rounded.values()))} scores by {made_by}")


def kept(scorer: str) -> dict[str, Any]:
    """What `keep` wrote."""
    found: dict[str, Any] = json.loads((FOLDER / f"{scorer}.json").read_text("utf-8"))
    return found
