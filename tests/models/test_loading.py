"""Where models run; and their linear layers with weights laid out, which give the same products row by row."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from babelquake.errors import UserError
from babelquake.models.loading import configure, device_of, in_one_pass, prepared

torch = pytest.importorskip("torch", reason="needs the extra [neural]")
Make = Callable[..., Path]


@pytest.mark.parametrize("name", ["tpu", "cuda:one", "cuda:", "", "cpu:0"])
def test_unknown_devices_are_named(name: str) -> None:
    for ask in (configure, device_of):
        with pytest.raises(UserError, match=f"no device is called '{name}': expected auto, cpu, cuda or cuda:1"):
            ask(name)
    assert device_of("cpu") == "cpu"


def loaded(folder: Path) -> Any:
    import transformers as hf

    return hf.AutoModel.from_pretrained(folder).eval()


@pytest.mark.parametrize("kind", ["bert", "roberta", "gpt2"])
def test_a_model_says_the_same_with_its_products_prepared(made: Make, kind: str) -> None:
    ids = torch.randint(5, 20, (4, 40), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = loaded(made(kind))(ids).last_hidden_state
        model = prepared(loaded(made(kind)))
        found = model(ids).last_hidden_state
    assert not any(type(module) is torch.nn.Linear for module in model.modules())
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_a_row_of_a_product_does_not_depend_on_the_number_of_rows() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    layer = prepared(torch.nn.Sequential(torch.nn.Linear(384, 1536), torch.nn.Linear(1536, 384)))
    rows = torch.randn(700, 384)
    with torch.inference_mode():
        whole = layer(rows)
        for start, count in ((0, 128), (3, 129), (100, 200), (7, 333), (1, 513)):
            assert torch.equal(layer(rows[start : start + count].contiguous()), whole[start : start + count])


def test_a_torch_without_such_products_leaves_the_model_as_it_is(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    model = loaded(made("bert"))
    assert prepared(model) is model
    assert any(type(module) is torch.nn.Linear for module in model.modules())


def test_an_activation_in_one_pass_says_the_same(made: Make) -> None:
    ids = torch.randint(5, 20, (4, 40), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = loaded(made("gpt2"))(ids).last_hidden_state
        model = in_one_pass(loaded(made("gpt2")))
        found = model(ids).last_hidden_state
    assert sum(isinstance(module, torch.nn.GELU) for module in model.modules()) == model.config.n_layer
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
