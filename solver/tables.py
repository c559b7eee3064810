"""Tables for a terminal of any width: columns where they fit, and below that one short list a row.

The catch it guards against: a library that squeezes columns into too few characters cuts numbers or folds words letter
by letter. Here a number is never cut; what does not fit beside its neighbours goes below them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


class Records:
    """Rows of text under headings; the first column names a row, `numbers` are the headings set to the right.

    A row with a style (such as "bold red") is drawn in it.
    """

    def __init__(self, headings: Sequence[str], numbers: Sequence[str] = ()) -> None:
        self._headings, self._numbers = tuple(headings), frozenset(numbers)
        self._rows: list[tuple[tuple[str, ...], str | None]] = []

    def add(self, *cells: str, style: str | None = None) -> None:
        """Append a row, one cell a heading."""
        self._rows.append((cells, style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = self._as_table()
        # the least width of a table is that of its longest words: whatever is cut beyond that is cut inside a word
        fits = Measurement.get(console, options.update(max_width=10_000), table).minimum <= options.max_width
        yield table if fits else self._as_lists()

    def _as_table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for heading in self._headings:
            right = heading in self._numbers
            table.add_column(Text(heading), justify="right" if right else "left", no_wrap=right)
        for cells, style in self._rows:
            table.add_row(*map(Text, cells), style=style)
        return table

    def _as_lists(self) -> Group:
        lines: list[RenderableType] = []
        for (name, *cells), style in self._rows:
            lines.append(Text(f"{self._headings[0]}: {name}", style=style or "bold"))
            rest = [Text(f"{heading}: {cell}") for heading, cell in zip(self._headings[1:], cells, strict=True) if cell]
            lines += [Padding(text, (0, 0, 0, 2), style=style or "") for text in rest]
        return Group(*lines)
