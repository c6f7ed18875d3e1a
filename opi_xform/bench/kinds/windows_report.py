"""What the benchmarks of kinds/windows.py found, as tables and as plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from opi_xform.bench.kinds.windows import MISSES, ORIGINS, OVERLAP, PAIRS, origins_of
from opi_xform.bench.result import Result, Row, column_title, result_text


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot: a line for each series."""

    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    log: bool
    """Of its y."""


def _panel(
    rows: Iterable[Row],
    title: str,
    x: tuple[str, Callable[[Row], float]],
    y: tuple[str, Callable[[Row], float]],
    log: bool,
) -> Panel:
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        lines.setdefault(column_title(row.series, row.mpi), []).append((x[1](row), y[1](row)))
    return Panel(title, x[0], y[0], {name: sorted(line) for name, line in lines.items()}, log)


def _more(name: str) -> Callable[[Row], float]:
    return lambda row: dict(row.more)[name]


_ORIGINS = ("origins", lambda row: float(origins_of(row)))
_BYTES = ("bytes", lambda row: float(row.bytes))
_US = ("microseconds", lambda row: row.median_us)


def panels_of(result: Result) -> list[Panel]:
    """What is drawn of a result."""
    panels: list[Panel] = []
    if result.bench in (ORIGINS.name, PAIRS.name):
        groups: dict[tuple[str, int], list[Row]] = {}
        for row in result.rows:
            groups.setdefault((row.point.rpartition("-")[0], row.bytes), []).append(row)
        for (point, size), rows in groups.items():
            if result.bench == ORIGINS.name:
                panels.append(_panel(rows, point, _ORIGINS, _US, True))
            else:
                panels.append(_panel(rows, f"{point}, {size:,} B", _ORIGINS, ("MB/s", _more("mb_per_s")), False))
        return panels
    drawn = {
        OVERLAP.name: (("hidden", False), ("lost", False)),
        MISSES.name: (("first_level_misses", False), ("instructions", True)),
    }
    for name, log in drawn[result.bench]:
        for point in result.points():
            rows = [row for row in result.rows if row.point == point and name in dict(row.more)]
            if rows:
                panels.append(_panel(rows, point, _BYTES, (name.replace("_", " "), _more(name)), log))
    if not panels:  # no valgrind
        for point in result.points():
            panels.append(_panel((row for row in result.rows if row.point == point), point, _BYTES, _US, True))
    return panels


def text_of(result: Result) -> str:
    """Times, ratios, and what else was found out. Times of the computation alone are in the JSON only."""
    rows = tuple(row for row in result.rows if not row.point.endswith(("-alone", "-meanwhile")))
    return result_text(replace(result, rows=rows))


def save_plot(result: Result, path: Path) -> None:
    """The panels, four in a row. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = panels_of(result)
    wide = min(4, len(panels))
    high = (len(panels) + wide - 1) // wide
    figure, grid = pyplot.subplots(high, wide, figsize=(4.5 * wide, 3.5 * high), squeeze=False)
    flat = [axes for line in grid for axes in line]
    for axes in flat[len(panels) :]:
        figure.delaxes(axes)
    for axes, panel in zip(flat, panels, strict=False):
        for name, line in panel.lines.items():
            axes.plot([x for x, _ in line], [y for _, y in line], "o-", label=name, markersize=4)
        if panel.x == "bytes":
            axes.set_xscale("log", base=2)
        if panel.log:
            axes.set_yscale("log")
        axes.set_title(panel.title, fontsize=9)
        axes.set_xlabel(panel.x)
        axes.set_ylabel(panel.y)
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=6)
    figure.suptitle(f"{result.bench}\n{result.machine}", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
