"""The layers of the package: a module imports only from the modules listed above it.

Import statements are read from the syntax tree, so that an import inside a function counts as much as one
at the top; only imports under `if TYPE_CHECKING` do not (they say what a type is, not what the code
needs).
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

# From the foundations up; each line is one layer of meaning.
ORDER = [
    *("errors", "checks"),
    *("drift_base", "drift_scan", "drift_forms", "drift_survey", "drift_callable", "drift_table", "drifts"),
    *("exponential_sum", "jump_exponents", "parameter_arrays", "exponent", "tail_form"),
    *("jump_law", "tempered_jumps", "laplace_jumps", "jumps"),
    *("files", "config", "model", "extremes", "presets"),
    *("tail_words", "closed_form"),
    *("grid", "far_jumps", "generator"),
    *("power_tail", "continuation", "tail_growth", "nullvector", "blocks", "residual", "halfline", "reach"),
    *("elimination", "untempered", "eigen", "dense"),
    *("confinement", "shifted_side", "shifted", "essential", "observed_order", "ritz", "mode_search", "modes"),
    *("cells", "interpolant", "cumulative", "distribution", "moments", "exponential_mean", "timescales"),
    *("panels", "envelope_sums", "envelope"),
    *("archive", "evidence", "correlation", "density", "storage"),
    *("discretisation", "affordable", "levels", "history", "power_domain", "edge_search", "given_grid", "stationary"),
    *("tail_transform", "tail_candidate", "tail_fit", "tail_data", "tail_singular", "tail_plain"),
    *("tails", "tail_moment", "tail_theory"),
    *("power_check", "settled", "check_row", "crosscheck"),
    *("envelope_law", "window_fit", "finite_network", "horizon", "tail_study"),
    *("axes", "extras", "phase_diagram", "phase_lines", "design_range", "design", "design_horizon", "sensitivity"),
    *("sweep_point", "sweep_store", "sweep_engine", "sweep_result", "sweep", "study"),
    *("sample_files", "samples", "tables", "report", "folder", "outputs"),
    *("drawing", "plots", "plot_phases", "plot_tails", "terminal", "options", "answer"),
    *("command_solve", "command_tails", "command_phase", "command_design", "command_sweep", "cli"),
]
LONGEST = 260  # lines; a longer file explains two things
NOT_LISTED = {"__init__"}  # re-exports everything, and nothing inside the package imports it

MODULES = {path.stem: path for path in (ROOT / "solver").glob("*.py") if path.stem not in NOT_LISTED}
COMMANDS = {name for name in MODULES if name.startswith("command_")}
MODULES |= {"presets": ROOT / "solver" / "presets" / "__init__.py"}


def imports(source: str) -> list[tuple[str, bool]]:
    """(dotted name, lazily?) of everything a source text imports, TYPE_CHECKING blocks left out."""
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, lazy: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child, lazy)
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, lazy) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found.extend((f"{module}.{alias.name}", lazy) for alias in node.names)
        inside = lazy or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(source), False)
    return found


def inside_imports(source: str) -> set[str]:
    """Modules of `solver` that a source text needs ('' for the package itself)."""
    names = {name.removesuffix(".*") for name, _ in imports(source) if name.split(".")[0] == "solver"}
    return {[*name.split("."), ""][1] for name in names}


def wrong_imports(name: str, source: str) -> set[str]:
    """Names that module `name` must not import but does."""
    above = set(ORDER[: ORDER.index(name)])
    # the package's version is the one thing that may be taken from solver itself
    return inside_imports(source) - above - {"__version__"}


def test_every_module_has_its_place() -> None:
    assert set(MODULES) == set(ORDER)
    assert len(ORDER) == len(set(ORDER))


@pytest.mark.parametrize("name", ORDER)
def test_a_module_imports_only_from_above(name: str) -> None:
    source = MODULES[name].read_text(encoding="utf-8")
    assert not [item for item, _ in imports(source) if item.startswith(".")], "imports name the package"
    assert wrong_imports(name, source) == set()


def test_the_check_sees_a_wrong_import() -> None:
    assert wrong_imports("jumps", "from solver.grid import Grid") == {"grid"}
    assert wrong_imports("jumps", "def f():\n    import solver.plots") == {"plots"}
    assert wrong_imports("jumps", "from solver import elimination") == {"elimination"}
    assert wrong_imports("jumps", "from solver.errors import ModelError") == set()
    typing_only = "if TYPE_CHECKING:\n    from solver.grid import Grid\nelse:\n    import solver.eigen"
    assert wrong_imports("jumps", typing_only) == {"eigen"}


def users_of(library: str) -> set[str]:
    """Modules that import a library, lazily or not."""
    sources = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    return {name for name, text in sources.items() if any(item.split(".")[0] == library for item, _ in imports(text))}


@pytest.mark.parametrize(
    ("library", "users"),
    [
        ("findiff", {"generator"}),
        ("matplotlib", {"drawing", "plots", "plot_phases", "plot_tails"}),
        ("typer", {"cli", "terminal", "options", "answer"} | COMMANDS),
        ("rich", {"report", "tables", "terminal", "answer"} | COMMANDS),
        ("validation", set()),
        ("zetafp", set()),
    ],
)
def test_a_library_is_used_in_one_place(library: str, users: set[str]) -> None:
    assert users_of(library) <= users


def test_figures_are_imported_lazily_and_only_by_commands() -> None:
    """So that a command which draws nothing does not wait for matplotlib."""
    for name, path in MODULES.items():
        for item, lazy in imports(path.read_text(encoding="utf-8")):
            if item.startswith(("solver.drawing", "solver.plots", "solver.plot_")) and not name.startswith("plot"):
                assert name in COMMANDS and lazy


def reach(name: str) -> set[str]:
    """Everything a module imports, directly or not."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for other in inside_imports(MODULES[waiting.pop()].read_text(encoding="utf-8")) & set(MODULES):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def test_the_closed_form_knows_of_no_grid() -> None:
    assert reach("closed_form") & set(ORDER[ORDER.index("grid") :]) == set()


@pytest.mark.parametrize("name", ["eigen", "dense"])
def test_the_reference_methods_share_no_line_with_the_elimination(name: str) -> None:
    """Otherwise their agreement would mean nothing."""
    assert reach(name) & {"elimination", "blocks", "halfline", "residual"} == set()


@pytest.mark.parametrize("folder", ["solver", "validation"])
def test_files_stay_short(folder: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST} == {}


def test_the_version_stands_in_one_place() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "solver/__init__.py"
    import solver

    newest = next(line for line in changelog_lines() if line.startswith("## "))
    assert newest.split()[1] == solver.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {solver.__version__}" in citation


def changelog_lines() -> list[str]:
    return Path(ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()


def test_zetafp_offers_the_same_names() -> None:
    import solver
    import zetafp

    assert sorted(zetafp.__all__) == sorted(solver.__all__)
    assert all(getattr(zetafp, name) is getattr(solver, name) for name in solver.__all__)
