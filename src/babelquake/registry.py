"""Names → things, loaded when first asked for. One registry each for perturbations, scorers and systems.

A built-in is one line in its room's table: a name and where to import it from, or a module whose import registers
several. Other packages join through entry points of the registry's group, for example
`[project.entry-points."babelquake.scorers"] mymetric = "mypackage:MyMetric"`, or name a module that registers the
thing itself, as a perturbation's decorator does. A plug-in that cannot be loaded, or that takes the name of a built-in,
is set aside and named in `set_aside`; everything else works.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from babelquake.errors import UserError, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """A lazy table of named things of one kind."""

    def __init__(
        self,
        kind: str,
        group: str,
        places: Mapping[str, str] | None = None,
        modules: Iterable[str] = (),
        listing: str = "",
    ) -> None:
        self.kind = kind
        self.listing = listing
        """What `babelquake list` calls them all."""
        self.group = group
        self._places = dict(places or {})
        self._modules = list(modules)
        self._things: dict[str, T] = {}
        self._plugins: dict[str, str] = {}
        self._plugins_read = False
        self.set_aside: dict[str, str] = {}
        """Plug-ins that cannot be used, by name, and why."""

    def register(self, name: str, thing: T) -> None:
        """Add a thing under a name that is still free."""
        if name in self._things or name in self._places:
            raise UserError(f"two {self.kind}s are called '{name}'.")
        self._things[name] = thing

    def names(self) -> list[str]:
        """All names, plug-ins included, in alphabetical order."""
        self._load_modules()
        self._read_plugins()
        return sorted({*self._things, *self._places, *self._plugins})

    def items(self) -> list[tuple[str, T]]:
        """All names and things; a plug-in that cannot be loaded is set aside."""
        found = []
        for name in self.names():
            try:
                found.append((name, self.get(name)))
            except UserError as error:
                if name not in self._plugins:
                    raise
                self.set_aside[name] = str(error)
        return found

    def get(self, name: str) -> T:
        """The thing of that name; a wrong name gets a hint."""
        if name not in self._things and name not in self._places:
            self._load_modules()
        if name not in self._things and name not in self._places:
            self._read_plugins()
        if name in self._things:
            return self._things[name]
        place = self._places.get(name) or self._plugins.get(name)
        if place is None:
            raise UserError(f"no {self.kind} is called '{name}'. {did_you_mean(name, self.names(), self.listing)}")
        return self._loaded(name, place)

    def _loaded(self, name: str, place: str) -> T:
        module, _, attribute = place.partition(":")
        try:
            found = import_module(module)
        except ImportError as error:
            raise UserError(f"{self.kind} '{name}' cannot be loaded: {error}.") from error
        except Exception as error:
            if name in self._places:
                raise
            why = f"{type(error).__name__}: {error}"
            raise UserError(f"{self.kind} '{name}', a plug-in from {place}, cannot be loaded: {why}.") from error
        if name not in self._things:
            if not hasattr(found, attribute):
                raise UserError(f"{self.kind} '{name}' cannot be loaded: {module} has no '{attribute}'.")
            self._things[name] = getattr(found, attribute)
        return self._things[name]

    def _load_modules(self) -> None:
        while self._modules:
            import_module(self._modules.pop(0))

    def _read_plugins(self) -> None:
        if not self._plugins_read:
            self._plugins_read = True
            for point in entry_points(group=self.group):
                if point.name in self._places or point.name in self._things:
                    self.set_aside[point.name] = (
                        f"the plug-in {point.value} has the name of the built-in {self.kind} '{point.name}': "
                        "it is not used; give it another name."
                    )
                else:
                    self._plugins.setdefault(point.name, point.value)
