"""Model files that are wrong: each gives one ModelError that names the file, the field and the way out."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solver.config import build, check_keys
from solver.drifts import DRIFTS, TabulatedDrift, TanhDrift
from solver.errors import ModelError
from solver.files import read_columns
from solver.jumps import TemperedStableJumps
from solver.model import Model

GOOD = """
title = "an example"
description = "words for the reader"
diffusion = 0.3
[drift]
kind = "tanh"
plateau = 1
center = 0.0
width = 1.0
[jumps]
intensity = 0.4
stability = 1.5
tempering = 2.2
"""
TABLE = 'diffusion = 0.3\n[drift]\nkind = "table"\n'


def load(tmp_path: Path, text: str | bytes) -> Model:
    path = tmp_path / "model.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Model.from_toml(path)


def refusal(tmp_path: Path, text: str | bytes) -> str:
    """What is said against a model file, after the name of the file."""
    with pytest.raises(ModelError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'model.toml'}: ") and "\n" not in message
    return message.removeprefix(f"{tmp_path / 'model.toml'}: ")


def test_a_good_file(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD) == Model(TanhDrift(1.0), 0.3, TemperedStableJumps(0.4, 1.5, 2.2))
    assert load(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()) == load(tmp_path, GOOD)  # byte order mark
    assert load(tmp_path, GOOD.replace("\n", "\r\n")) == load(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("stability = 1.5", "stability = 2.5", "jumps.stability = 2.5: must lie in (0, 2)"),
        (
            "stability = 1.5",
            "stabilty = 1.5",
            "jumps.stabilty: unknown key; known are intensity, stability, ",
        ),
        ("stability = 1.5", "", "jumps.stability: missing; TemperedStableJumps needs intensity, stability, "),
        ("intensity = 0.4", 'intensity = "0.4"', "jumps.intensity = '0.4': must be a finite number, got str"),
        ("tempering = 2.2", "tempering = nan", "jumps.tempering = nan: must be a finite number in [0, inf)"),
        (
            "tempering = 2.2",
            'tempering = 2.2\nconvention = "levi"',
            "jumps.convention = 'levi': must be one of",
        ),
        ("diffusion = 0.3", "", "diffusion: missing; write diffusion = 0.0 for pure jumps"),
        (
            "diffusion = 0.3",
            "diffussion = 0.3",
            "diffussion: unknown key; known are title, description, drift, ",
        ),
        ("diffusion = 0.3", "diffusion = true", "diffusion = True: must be a finite number, got bool"),
        (
            "diffusion = 0.3",
            "diffusion = 2020-01-01",
            "diffusion = datetime.date(2020, 1, 1): must be a finite",
        ),
        ("diffusion = 0.3", "diffusion = -1", "diffusion = -1: must lie in [0, inf)"),
        ("width = 1.0", "width = 0.0", "drift.width = 0.0: must lie in (0, inf)"),
        (
            "width = 1.0",
            "wdth = 1.0",
            "drift.wdth: unknown key; known are plateau, center, width; did you mean",
        ),
        (
            "width = 1.0",
            "diffusion = 0.3",
            "drift.diffusion: unknown key; known are plateau, center, width; 'd",
        ),
        ("plateau = 1", "plateau = [1]", "drift.plateau = [1]: must be a finite number, got list"),
        ("plateau = 1", "", "drift.plateau: missing; TanhDrift needs plateau"),
        ('kind = "tanh"', "", "drift.kind: missing (found plateau, center, width); one of tanh, logistic, "),
        ('kind = "tanh"', 'kind = "tahn"', "drift.kind = 'tahn': must be one of 'tanh', 'logistic', "),
        ('kind = "tanh"', "kind = 3", "drift.kind = 3: must be one of 'tanh'"),
        ('kind = "tanh"', "kind = [3]", "drift.kind = [3]: must be one of 'tanh'"),
        (
            'kind = "tanh"',
            'kind = "callable"',
            "drift.kind = 'callable': a CallableDrift holds a Python func",
        ),
        ('kind = "tanh"', 'kind = "tanh"\nfile = "a.csv"', "drift.file: unknown key; known are plateau, "),
        ('title = "an example"', "title = 3", "title = 3: must be text"),
        (
            "[drift]",
            "[drifts]",
            "drifts: unknown key; known are title, description, drift, diffusion, jumps; did",
        ),
        ("[jumps]", "[[jumps]]", "jumps = [{"),
        ("[jumps]", "[jumps", "not valid TOML: "),
        ("[jumps]", "[drift]", "not valid TOML: Cannot declare ('drift',) twice"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert refusal(tmp_path, GOOD.replace(old, new)).startswith(message)


def test_hints(tmp_path: Path) -> None:
    assert refusal(tmp_path, GOOD.replace("stability", "stabilty")).endswith("; did you mean 'stability'?")
    assert refusal(tmp_path, GOOD.replace("tanh", "Tanh")).endswith("; did you mean 'tanh'?")
    inside = GOOD.replace("diffusion = 0.3\n", "") + "diffusion = 0.3\n"
    assert refusal(tmp_path, inside).endswith("'diffusion' belongs above the first [table]")
    assert "[drift] kind" in refusal(tmp_path, "diffusion = 0.3")
    assert refusal(tmp_path, "drift = 3\ndiffusion = 0.3").endswith("must be a table [drift], got int")
    assert refusal(tmp_path, 'diffusion = 0.0\n[drift]\nkind = "linear"\nrate = 1').startswith("diffusion = 0.0")


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path: Path, text: str | bytes) -> None:
    assert refusal(tmp_path, text) == "empty; a model file needs [drift] and diffusion"


def test_what_is_not_a_text_file(tmp_path: Path) -> None:
    assert refusal(tmp_path, GOOD.encode("utf-16")).startswith("not UTF-8 text (byte 0)")
    latin = GOOD.replace("words", "wörter").encode("latin-1")
    assert refusal(tmp_path, latin) == f"not UTF-8 text (byte {latin.index(0xF6)}); save it as UTF-8"
    assert refusal(tmp_path, "a = " + "[" * 5000).startswith("not a model file: its brackets are nested too")


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.toml", "no such file"), (".", "a directory, not a file"), ("\0", "cannot be read")],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        Model.from_toml(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: {message}")


@given(st.sampled_from(["plateau", "center", "width", "stability", "intensity"]), st.data())
def test_one_letter_wrong_is_always_recognised(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(st.sampled_from(["", "x", word[place] * 2]))
    wrong = word[:place] + letter + word[place + 1 :]
    known = ["plateau", "center", "width", "stability", "intensity", "tempering"]
    if wrong not in known:
        with pytest.raises(ModelError, match=rf"^{wrong}: unknown key.*did you mean '{word}'\?$"):
            check_keys({wrong: 1.0}, known)


@pytest.mark.parametrize("form", [form for kind, form in DRIFTS.items() if kind not in ("table", "callable")])
def test_the_known_keys_are_the_fields(form: type[Any]) -> None:
    """A new drift needs no line in the reader."""
    values = dict.fromkeys([field.name for field in fields(form)], 1.5)
    assert build(form, values, "drift") == form(**values)
    with pytest.raises(ModelError, match=r"^drift\.extra: unknown key"):
        build(form, {**values, "extra": 1.0}, "drift")


def test_a_table_in_the_file(tmp_path: Path) -> None:
    model = load(tmp_path, TABLE + "zeta = [-1, 0, 1]\nvalues = [1.0, 0.0, -1.0]")
    assert model.drift == TabulatedDrift([-1, 0, 1], [1, 0, -1])


@pytest.mark.parametrize(
    "text",
    [
        "zeta,value\n-1,1\n0,0\n1,-1\n",
        "-1,1\n0,0\n1,-1",
        "\ufeffZeta, Value\r\n\r\n-1.0, 1e0\r\n0 ,0\r\n1,-1\r\n,\r\n",
        '"zeta","value"\n"-1","1"\n0,0\n1,-1\n',
    ],
)
def test_a_table_beside_the_file(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "drift.csv").write_text(text, encoding="utf-8", newline="")
    monkeypatch.chdir("/")  # the path is relative to the model file, not to where one happens to be
    model = load(tmp_path, TABLE + 'file = "tables/drift.csv"')
    assert model.drift == TabulatedDrift([-1, 0, 1], [1, 0, -1])
    model.to_toml(tmp_path / "alone.toml")
    (tmp_path / "tables" / "drift.csv").unlink()
    assert Model.from_toml(tmp_path / "alone.toml") == model


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("zeta;value\n-1;1\n", "drift.csv, line 1: 'zeta;value': must be two numbers zeta,value"),
        ("zeta,value\n-1,1\n0,zero\n", "drift.csv, line 3: '0,zero': must be two numbers zeta,value"),
        ("-1,1\nzeta,value\n", "drift.csv, line 2: 'zeta,value': must be"),
        ("-1,1,5\n", "drift.csv, line 1: '-1,1,5': must be two numbers"),
        ("-1\n", "drift.csv, line 1: '-1': must be two numbers"),
        ("", "drift.csv: no numbers in it; it needs the columns zeta,value"),
        ("zeta,value\n", "drift.csv: no numbers in it"),
        ("-1,nan\n1,2", "drift.values[0] = nan: must be a finite number"),
        ("1,1\n0,2", "drift.zeta[1] = 0.0: must be larger than zeta[0] = 1.0"),
        ("1,1", "drift.zeta: 1 of them; a table needs at least 2 points"),
        ('"' + "1" * 200_000 + '",1', "drift.csv, line 1: field larger than field limit"),
        (None, "drift.csv: no such file"),
    ],
)
def test_a_wrong_table_beside_the_file(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "drift.csv").write_text(text, encoding="utf-8")
    said = refusal(tmp_path, TABLE + 'file = "drift.csv"')
    assert said.removeprefix(f"{tmp_path}/").startswith(message)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('file = "drift.csv"\nzeta = [0, 1]', "drift.file: give either a file or the lists zeta and values"),
        ("file = 3", "drift.file = 3: must be the name of a CSV file"),
        ("zeta = [0, 1]", "drift.values: missing; TabulatedDrift needs zeta, values"),
        ('fil = "drift.csv"', "drift.fil: unknown key; known are zeta, values, file; did you mean 'file'?"),
        ("zeta = 3\nvalues = [1]", "drift.zeta = 3: must be a list of numbers, got int"),
        ("", "drift: a table needs the lists zeta and values, or a CSV file named in `file`"),
    ],
)
def test_a_wrong_table_in_the_file(tmp_path: Path, lines: str, message: str) -> None:
    assert refusal(tmp_path, TABLE + lines).startswith(message)


def test_columns_read_exactly(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("0.1,1e-300\n0.30000000000000004,5e-324\n", encoding="utf-8")
    assert read_columns(tmp_path / "t.csv", ("a", "b")) == ([0.1, 0.30000000000000004], [1e-300, 5e-324])
