"""Where models run, and what is said of a device that does not exist."""

import pytest

from babelquake.errors import UserError
from babelquake.models.settings import configure, device_of


@pytest.mark.parametrize("name", ["tpu", "cuda:one", "cuda:", "", "cpu:0"])
def test_unknown_devices_are_named(name: str) -> None:
    pytest.importorskip("torch", reason="needs the extra [neural]")
    for ask in (configure, device_of):
        with pytest.raises(UserError, match=f"no device is called '{name}': expected auto, cpu, cuda or cuda:1"):
            ask(name)
    assert device_of("cpu") == "cpu"
