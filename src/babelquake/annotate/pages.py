"""Pages from templates; every text is escaped, instructions are Markdown without HTML."""

from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

ASSETS = {"annotate.css": "text/css", "annotate.js": "text/javascript", "spans.js": "text/javascript"}


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("babelquake.annotate", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page of that template."""
    return HTMLResponse(_templates().get_template(template).render(**values), status)


def refusal(status: int, title: str, text: str) -> HTMLResponse:
    """A page for somebody who may not see more: it says nothing about the project."""
    return page("refusal.html", status, title=title, text=text)


@lru_cache(maxsize=64)
def markdown(text: str) -> Markup:
    """Instructions as HTML: CommonMark, with HTML in it shown as text and only harmless links."""
    return Markup(MarkdownIt("commonmark", {"html": False}).disable("image").render(text))  # noqa: S704


@cache
def asset(name: str) -> bytes:
    """A style sheet or script of our own."""
    return files("babelquake.annotate").joinpath("assets", name).read_bytes()
