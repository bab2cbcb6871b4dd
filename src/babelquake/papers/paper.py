"""A paper is one YAML file: its tables with the published cells, and the study behind each.

A table names runs (data files below the folder that the user gives), scorers, systems and tokenizers by the paper's
names with the spec that stands for each, and rows and columns that say which measure a cell is. A figure is a table
too; where its numbers are not printed, cells have none and `stated` holds what the text says. A new paper: a new file.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from babelquake.errors import UserError, did_you_mean
from babelquake.paths import table_of_room, tables_in


class Judge(BaseModel):
    """A scorer, system or tokenizer as the paper names it."""

    model_config = ConfigDict(extra="forbid")

    spec: str
    """What the paper used; `{model}` stands for each run's entry in `models`."""
    models: dict[str, str] = Field(default_factory=dict)
    """Run → what the paper used in it, where that differs from run to run."""
    offline: str | None = None
    """What stands in for it where nothing can be downloaded, if anything does."""
    scale: float = 1.0
    """What our numbers are multiplied by to stand on the paper's scale."""

    def of_run(self, spec: str, run: str) -> str:
        """A spec in one run: `{run}` is the run's name, `{model}` what the paper used in it."""
        return spec.replace("{run}", run).replace("{model}", self.models.get(run, "{model}"))


MEAN = "*"
"""As the run of a row: the mean over all runs."""


class RowOf(BaseModel):
    """A row of a table: which run it comes from, which measures, and what was published."""

    model_config = ConfigDict(extra="forbid")

    run: str
    where: dict[str, Any] = Field(default_factory=dict)
    published: list[float | None]
    sd: list[float | None] = Field(default_factory=list)
    """The standard deviations that were published beside them."""


class ColumnOf(BaseModel):
    """A column: the measure, and whose it is."""

    model_config = ConfigDict(extra="forbid")

    measure: str
    scorer: str | None = None
    system: str | None = None
    tokenizer: str | None = None
    where: dict[str, Any] = Field(default_factory=dict)


class PaperTable(BaseModel):
    """A table or figure that is a measurement."""

    model_config = ConfigDict(extra="forbid")

    title: str
    study: Literal["mt", "metric", "qe", "size", "correlate", "attack"]
    needs: str
    """What data and models the paper's own cells need, in words."""
    runs: dict[str, list[str]]
    """Run → files below the data folder; `.` is the folder itself."""
    only_from: str | None = None
    """The finished run that it must be taken from, in words, where people have a hand in it."""
    language_pairs: dict[str, str] = Field(default_factory=dict)
    scorers: dict[str, Judge] = Field(default_factory=dict)
    systems: dict[str, Judge] = Field(default_factory=dict)
    tokenizers: dict[str, Judge] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)
    run_options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Options of single runs."""
    columns: dict[str, ColumnOf]
    rows: dict[str, RowOf]
    digits: int = 1
    notes: list[str] = Field(default_factory=list)
    stated: list[str] = Field(default_factory=list)
    """What the paper's text says of a figure whose numbers are not printed."""

    @property
    def judges(self) -> dict[str, Judge]:
        """Everything that a user may put another in place of, by the paper's name."""
        return {**self.scorers, **self.systems, **self.tokenizers}

    @property
    def offline(self) -> str:
        """What of it can be measured without a network, in words."""
        able = [name for name, judge in self.judges.items() if judge.offline is not None]
        if len(able) == len(self.judges):
            return "yes"
        if any(kind and not set(kind) & set(able) for kind in (self.scorers, self.systems, self.tokenizers)):
            return "no"
        return ", ".join(able)


class Paper(BaseModel):
    """A paper and its tables."""

    model_config = ConfigDict(extra="forbid")

    name: str
    title: str
    tables: dict[str, PaperTable]

    def table(self, name: str) -> PaperTable:
        """A table by name; a wrong one gets a hint."""
        if name not in self.tables:
            raise UserError(f"{self.name} has no table '{name}'. {did_you_mean(name, self.tables)}")
        return self.tables[name]


def paper_names() -> list[str]:
    """The papers that are here."""
    return list(tables_in("papers", "tables"))


def paper(name: str) -> Paper:
    """A paper by name; a wrong one gets a hint."""
    if name not in paper_names():
        raise UserError(f"no paper is called '{name}'. {did_you_mean(name, paper_names())}")
    return Paper.model_validate({"name": name, **table_of_room("papers", f"tables/{name}")})
