"""Notes travel with runs and mailed reports: they name the data, not the folders of the machine they were read on."""

import json
from pathlib import Path

import pytest

from babelquake.data import read
from babelquake.errors import UserError

FILES = {
    "news.tsv": "\ufeffsource\treference\tsorce\r\na\tb\tc\r\n\tb\tc\r\n\r\n",
    "bare.tsv": "Das Haus\tThe house\n\tThe cat\n",
    "news.csv": "source,reference\na,b\n,b\n",
    "news.jsonl": '{"source": "a", "id": "1"}\n\n{"source": "", "id": "1"}\n',
    "news.json": json.dumps([{"source": "", "reference": "b"}]),
    "news.txt": "\ufeffeins\n\n",
    "demetr.json": json.dumps(
        [
            {
                "id": 1,
                "src_sent": "a",
                "mt_sent": "b",
                "eng_sent": "",
                "pert_sent": "b",
                "pert_name": "x",
                "pert_check": False,
            }
        ]
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_notes_name_the_data_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(FILES[name], "utf-8", newline="")
    notes = read(str(file)).notes
    assert notes
    for note in notes:
        assert str(tmp_path) not in note and tmp_path.name not in note
        assert note.startswith(file.stem)


def test_notes_on_folders_name_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "wmt19-darr" / "lt-en"
    folder.mkdir(parents=True)
    (folder / "sources.txt").write_text("eins\r\nzwei\r\n", newline="")
    (folder / "references.txt").write_text("one\ntwo\n")
    (folder / "darr.tsv").write_text("segment\tbetter_system\tworse_system\tbetter\tworse\n0\ta\tb\tone\t\n")
    notes = read(str(folder)).notes
    assert "wmt19-darr/lt-en: 1 of 2 segments have no judgement and are left out" in notes
    assert "sources.txt: 2 lines ended in CR LF; the CR was dropped" in notes
    assert not any(str(tmp_path) in note for note in notes)


def test_errors_name_the_file_as_the_user_wrote_it(tmp_path: Path) -> None:
    file = tmp_path / "news.tsv"
    file.write_text("source\treference\na\n")
    with pytest.raises(UserError, match=str(file)):
        read(str(file))


def test_a_column_called_row_goes_by_another_name(tmp_path: Path) -> None:
    """Runs number their rows; attacks, correlations and `--limit` ended in an error on such data."""
    file = tmp_path / "news.tsv"
    file.write_text("row\tsource\tscore\n7\ta\t1\n8\tb\t2\n", "utf-8")
    data = read(str(file))
    assert data.segments["data_row"].to_list() == [7, 8] and "row" not in data.segments.columns
    assert data.notes == ("news: column 'row' was renamed to data_row",)
    assert data.first(1).segments["data_row"].to_list() == [7]
