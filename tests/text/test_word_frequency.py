"""How rare words are in general."""

import math
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from recollect.text.tokens import stem
from recollect.text.word_frequency import idf

SCRIPT = Path(__file__).parents[2] / "models" / "build_frequencies.py"


def build(vocab: Path, out: Path) -> str:
    subprocess.run([sys.executable, SCRIPT, vocab, out], check=True)
    return out.read_text(encoding="utf-8")


def test_rarer_words_tell_more() -> None:
    rising = ["the", "people", "summer", "dog", "caroline", "zymurgy"]
    values = [idf(stem(word)) for word in rising]
    assert values == sorted(values)
    assert len(set(values)) == len(values)


def test_unknown_words_count_as_the_rarest() -> None:
    assert idf("xyzzy") == idf("2023") == idf("猫") == idf("")
    assert idf("xyzzy") > idf(stem("dogs"))


def test_the_formula_is_the_documented_one(tmp_path: Path) -> None:
    fillers = [a + b for a in "bcdfghjklm" for b in "bcdfghjklm"]
    pieces = ["unordered"] * 1996 + ["the", "##s", "1999", "x", "café", *fillers, "cats", "cat"]
    vocab = tmp_path / "vocab.txt"
    vocab.write_text("\n".join(pieces), encoding="utf-8")
    lines = [line.split() for line in build(vocab, tmp_path / "out.txt").splitlines()]
    made = {word: float(value) for value, *words in lines for word in words}
    scale = 0.95 / sum(1 / (rank + 2.7) for rank in range(1, 104))
    share_the = 1 - (1 - scale / 3.7) ** 20
    share_cat = 1 - (1 - scale / 104.7 - scale / 105.7) ** 20
    assert made.keys() == {"the", "cat", *fillers}
    assert made["the"] == pytest.approx(math.log(1 + (1 - share_the) / share_the), abs=0.005)
    assert made["cat"] == pytest.approx(math.log(1 + (1 - share_cat) / share_cat), abs=0.005)


def test_the_table_is_what_the_script_makes_of_the_model_s_vocabulary(tmp_path: Path) -> None:
    shipped = files("recollect.text").joinpath("frequencies.txt").read_text(encoding="utf-8")
    with as_file(files("recollect.embedding").joinpath("model/vocab.txt")) as vocab:
        assert build(vocab, tmp_path / "out.txt") == shipped
