"""What an ideal metric does when a text is changed: the last part of a suite's file, for suites that pass or fail.

```yaml
expectations:
  below: [empty, source-copy, end-lost than concatenated]
  not below: ["concatenated than concatenated[level=1]"]
  not above: [filler]
  same: [case, whitespace]
```

A changed text is compared with the text as it is, or with another change of it that `than` names: at that level, or
without one at its own level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from babelquake.errors import UserError, did_you_mean
from babelquake.perturb.base import Perturbation
from babelquake.spec import parse

Rule = Literal["below", "not below", "not above", "same"]
RULES: tuple[Rule, ...] = get_args(Rule)
Cell = tuple[str | None, float | None]
"""A perturbation's label and level; of the text as it is None twice."""


@dataclass(frozen=True)
class Expectation:
    """How the score of a changed text must stand to that of another one."""

    rule: Rule
    than: str | None = None
    """The label of the change it is compared with; None for the text as it is."""
    level: float | None = None
    """The level of that change; None for the same level."""

    def baseline(self, level: float | None) -> Cell:
        """What a change at this level is compared with."""
        if self.than is None:
            return None, None
        return self.than, level if self.level is None else self.level


def expectations_of(content: Any, perturbations: Sequence[Perturbation], where: str) -> dict[str, Expectation]:
    """What a suite's file expects, by the label of each change; `where` names the file in errors."""
    if content is None:
        return {}
    if not isinstance(content, Mapping) or not all(isinstance(items, list) for items in content.values()):
        raise UserError(f"{where}: expectations needs lists of names under {', '.join(RULES)}.")
    names = {perturbation.name for perturbation in perturbations}
    found: dict[str, Expectation] = {}
    for rule, items in content.items():
        if rule not in RULES:
            raise UserError(f"{where} expects '{rule}'. {did_you_mean(str(rule), RULES)}")
        for item in items:
            name, _, than = (part.strip() for part in str(item).partition(" than "))
            for one in (name, parse(than).name) if than else (name,):
                if one not in names:
                    hint = did_you_mean(one, names)
                    raise UserError(f"{where} expects something of '{one}', which it does not have. {hint}")
            expected = _compared(rule, than)
            found |= {one.label: expected for one in perturbations if one.name == name}
    return found


def _compared(rule: Rule, than: str) -> Expectation:
    if not than:
        return Expectation(rule)
    other = Perturbation(than)
    return Expectation(rule, other.label, other.level if "level" in dict(parse(than).options) else None)
