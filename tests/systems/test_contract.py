"""What every system promises, for each one that can be made here."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.systems.tiny_models import ctranslate2_model, marian_model

from babelquake.errors import UserError
from babelquake.resource import Limits
from babelquake.spec import parameters
from babelquake.systems import SYSTEMS, System, system
from babelquake.systems.ctranslate2 import available
from babelquake.systems.files import export

TEXTS = ["Guten Tag", "", "Guten Tag", "Auf Wiedersehen!"]
LOCAL = ("command", "defended", "files", "ctranslate2", "bundled", "hf", "apertium")


def make(name: str, folder: Path) -> System:
    """The system with the least that it needs."""
    match name:
        case "command":
            return system("command[cmd=cat]")
        case "defended":
            return system("defended[defence=fold+repair,system=command[cmd=cat]]", "de-en")
        case "files":
            export(folder, TEXTS)
            (folder / "x.txt").write_text("Hello\n\nBye!\n", encoding="utf-8")
            return system(f"files[folder={folder},name=x]")
        case "ctranslate2":
            return system(f"ctranslate2[model={ctranslate2_model(folder)},beam=1,max_length=10]")
        case "bundled":
            if not available():
                pytest.skip("no model ships yet")
            return system(f"bundled[model={next(iter(available()))}]")
        case "hf":
            pytest.importorskip("transformers", reason="needs transformers")
            return system(f"hf[model={marian_model(folder)},beam=1,max_new_tokens=5,device=cpu]")
        case "apertium":
            if shutil.which("apertium") is None:
                pytest.skip("needs Apertium")
            pairs = subprocess.run(["apertium", "-l"], capture_output=True, text=True).stdout.split()
            return system(f"apertium[pair={pairs[0]}]") if pairs else pytest.skip("needs a language pair of Apertium")
        case "openai":
            return system("openai[model=m]", "de-en")
    return system(name, "de-en")


@pytest.mark.parametrize("name", SYSTEMS.names())
def test_a_system_says_what_it_is(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    assert made.name
    assert made.signature == made.signature
    assert made.signature.startswith(name)
    assert isinstance(made.limits, Limits)
    assert made.limits.texts >= 1
    assert (SYSTEMS.get(name).__doc__ or "").strip()
    assert made.remote == (name not in LOCAL)
    made.close()
    made.close()


@pytest.mark.parametrize("name", LOCAL)
def test_one_translation_per_text_in_order_and_the_same_again(name: str, tmp_path: Path) -> None:
    made = make(name, tmp_path)
    first = made.translate(TEXTS)
    assert len(first) == len(TEXTS)
    assert all(isinstance(text, str) for text in first)
    assert first[0] == first[2]
    assert first[1] == ""
    assert made.translate(TEXTS) == first
    assert made.translate([]) == []
    made.close()


@pytest.mark.parametrize("name", SYSTEMS.names())
def test_an_unknown_option_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no option 'nonsense'"):
        system(name, nonsense=1)
    assert "key" not in parameters(SYSTEMS.get(name))


def test_a_misspelt_system_gets_a_hint() -> None:
    with pytest.raises(UserError, match="Did you mean 'deepl'"):
        system("deeple")


def test_knowing_all_systems_loads_nothing_heavy() -> None:
    code = (
        "import sys; from babelquake.systems import SYSTEMS; [SYSTEMS.get(name) for name in SYSTEMS.names()]; "
        "heavy = {'torch', 'transformers', 'ctranslate2', 'httpx', 'sentencepiece'}; print(heavy & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


@pytest.mark.parametrize("name", ["deepl", "google", "microsoft", "libretranslate"])
def test_a_service_that_does_not_know_the_languages_says_how_to_tell_them(name: str) -> None:
    with pytest.raises(UserError, match=rf"needs the languages.*language.pair.*{name}\[source=de,target=en\]"):
        system(name)
    assert system(f"{name}[source=de,target=en]") and system(name, language_pair="de-en")
