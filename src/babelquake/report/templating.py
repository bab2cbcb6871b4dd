"""Pages from our own templates: every text is escaped, and no name is forgotten."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from babelquake.escape import visible


def rendered(template: str, **values: Any) -> str:
    """The page that a template makes of values."""
    environment = Environment(
        loader=PackageLoader("babelquake.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["visible"] = lambda text: visible(str(text))
    return environment.get_template(template).render(**values)
