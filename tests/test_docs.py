"""What the documents say is run: Python blocks, `zetafp` commands, the test command; and links are followed.

Python blocks of one file share a namespace from top to bottom, as a reader would type them. A decimal number in the
comment of a print is what is printed, to the digits shown. A command that is meant to fail says so in a comment:
`zetafp solve nonsense    # exit status 2`. A TOML block begins with `# name.toml`, a file that the commands name. A
block marked `slow` or `quiet` behind its language belongs to tests/test_docs_slow.py.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from typer.testing import CliRunner

DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"])
DOCUMENTS = [path for path in DOCUMENTS if path.exists()]
FENCE = re.compile(r"^```([\w ]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "console", "bash", "bash slow", "bash quiet", "toml", "text", ""}  # last: results, formulas
STATUS = re.compile(r"#\s*exit status (\d+)")


def blocks(path: Path, *languages: str) -> list[str]:
    """Fenced code blocks of a document in the given languages, in order."""
    text = path.read_text(encoding="utf-8")
    return [body for language, body in FENCE.findall(text) if language in languages]


def commands(path: Path) -> list[tuple[str, int]]:
    """(line, expected exit status) of every `zetafp` command a document shows."""
    found = []
    for block in blocks(path, "console", "bash", "sh"):
        for line in block.splitlines():
            command = line.removeprefix("$ ").strip()
            if command.startswith("zetafp "):
                status = STATUS.search(command)
                found.append((command.split(" #")[0].strip(), int(status[1]) if status else 0))
    return found


def named(paths: list[Path]) -> dict[str, Any]:
    return {"argvalues": paths, "ids": [str(path.relative_to(ROOT)) for path in paths]}


DECIMAL = re.compile(r"-?\d+\.(\d+)(?:e([-+]\d+))?")


def promised(comment: str, printed: str) -> bool:
    """Whether every decimal number of a comment was printed: rounded or cut to the digits that are shown."""
    found = [float(number[0]) for number in re.finditer(r"-?\d+\.?\d*(?:e[-+]\d+)?", printed)]
    for shown in DECIMAL.finditer(comment):
        last_digit = 10.0 ** (int(shown[2] or 0) - len(shown[1]))
        if not any(abs(float(shown[0]) - value) <= 1.001 * last_digit for value in found):
            return False
    return True


@pytest.mark.parametrize("path", **named([path for path in DOCUMENTS if blocks(path, "python")]))
def test_python_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "documentation"}
    for number, block in enumerate(blocks(path, "python"), start=1):
        for statement in ast.parse(block).body:
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = compile(ast.Module([statement], []), f"{path.name}, Python block {number}", "exec")
                exec(code, namespace)
            line = block.splitlines()[statement.lineno - 1]
            if line.startswith("print("):
                assert promised(line.partition("  # ")[2], output.getvalue()), f"{line}\n{output.getvalue()}"


@pytest.mark.parametrize("path", **named(DOCUMENTS))
def test_no_block_is_left_out(path: Path) -> None:
    """Neither by its language, nor as a formula, nor as a TOML file that no command names."""
    found = FENCE.findall(path.read_text(encoding="utf-8"))
    assert len(re.findall(r"^```", path.read_text(encoding="utf-8"), re.MULTILINE)) == 2 * len(found)
    assert {language for language, _ in found} <= LANGUAGES
    formulas = "\n".join(body for language, body in found if not language)
    assert not re.search(r"^\s*(\$ |zetafp |python|pip |\w+=\S+ \w)", formulas, re.MULTILINE)
    for block in blocks(path, "toml"):
        name = re.match(r"#\s*(\S+\.toml)", block)
        assert name and any(name[1] in command for command, _ in commands(path)) and tomllib.loads(block)


@pytest.mark.parametrize("path", **named([path for path in DOCUMENTS if commands(path)]))
def test_commands_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from validation.verbs import app

    # the reader stands in a clone: files the commands name are there
    for folder in ("tests", "docs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    for block in blocks(path, "toml"):
        name = re.match(r"#\s*(\S+\.toml)", block)
        if name:
            Path(name[1]).write_text(block, encoding="utf-8")
    for command, status in commands(path):
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert result.exit_code == status, f"{command}\n{result.output}\n{result.exception!r}"


def test_the_ci_runs_the_test_command_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    shown = "\n".join(blocks(ROOT / "README.md", "console", "bash", "sh")).splitlines()
    tests = [line for line in shown if "pytest" in line]
    assert len(tests) == 1
    assert [line for line in ci if line and not line.startswith("#")][-1] == tests[0]


LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("path", **named(DOCUMENTS))
def test_links_lead_somewhere(path: Path) -> None:
    targets = [target for target in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_equations_are_numbered_in_order() -> None:
    theory = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"  \((\d+)\)$", theory, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    everywhere = [path.read_text(encoding="utf-8") for path in [*DOCUMENTS, *ROOT.glob("solver/*.py")]]
    cited = {int(number) for text in everywhere for number in re.findall(r"eq\. (\d+)", text)}
    assert cited <= set(numbers)


def test_a_failing_block_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: the reader of documents finds blocks and does not swallow what they raise."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\ntext\n```python\nassert x == 2\n```\n"
        "```console\n$ zetafp solve a    # exit status 2\n```\n"
    )
    assert len(blocks(page, "python")) == 2
    assert commands(page) == [("zetafp solve a", 2)]
    with pytest.raises(AssertionError):
        test_python_blocks_run(page, tmp_path, monkeypatch)


def test_a_wrong_number_in_a_comment_is_seen() -> None:
    assert promised("about 1.267… and 2.37, e^(-1.26736 s)", "1.2673600490 2.36957 -1.26736")
    assert promised("[1.34041063e-07]", "[1.340410634e-07]")
    assert not promised("1.267", "1.2693")
    assert not promised("1.3404e-07", "[1.3404e-06]")


API = ROOT / "docs" / "api.md"


@pytest.mark.parametrize("package", ["solver", "validation"])
def test_the_api_page_lists_every_public_name_once(package: str) -> None:
    part = API.read_text(encoding="utf-8").split("## From `validation`")[package == "validation"]
    listed = [name for row in re.findall(r"^\| (`.+?) \|", part, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(importlib.import_module(package).__all__)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_the_number_of_exact_cases_is_right(name: str) -> None:
    from validation.cases import CASES

    assert f"{len(CASES)} exact cases" in (ROOT / name).read_text(encoding="utf-8")
