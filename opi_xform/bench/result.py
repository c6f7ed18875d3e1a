"""What a benchmark found, as a table, as JSON, and as a plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

Column = tuple[str, str | None]
"""A series and its MPI."""
MORE = {
    "mb_per_s": "MB a second, of all together",
    "hidden": "part of the transfer that is hidden behind the computation: 1 is all of it",
    "lost": "part of the computation that is lost while others put: 0 is none of it",
    "pays_us": "microseconds that a target's epoch with computation takes longer than the computation alone",
    "first_level_misses": "misses of the first-level data cache, per operation, simulated",
    "instructions": "instructions outside of the kernel, per operation",
}
"""What some benchmarks find out besides times, for headings."""


@dataclass(frozen=True, slots=True)
class Row:
    """One series at one message size."""

    series: str
    """`mpich`, `openmpi`: the program by that plain MPI; `bare`: the limit; `libopi`: untransformed, linked with
    libopi; `libopi-heap`: the same, its buffers reachable; `opi`: ownership passing."""
    mpi: str | None
    """The MPI it ran over; None for `bare`."""
    ranks: int
    bytes: int
    median_us: float
    repeats: int
    ratio_best_mpi: float | None
    """Time of the better plain MPI (of the MPI below it, in `nodes`) / this time, median over the rounds: above 1 is
    faster than MPI."""
    ratio_limit: float | None
    """This time / the limit's, median over the rounds."""
    point: str = ""
    """Tells rows of one size apart, e.g. `posted-512`."""
    misses: float | None = None
    """Cache misses per line of the data, of the benchmark that counts them."""
    memory_kib: int | None = None
    """Proportional set size of the processes that carry the ranks, of the benchmark that reads it."""
    helpers_kib: int | None = None
    """The same of the launcher's processes."""
    more: tuple[tuple[str, float], ...] = ()
    """What else was found out, by the names of MORE."""

    def as_json(self) -> dict[str, str | int | float | None]:
        """The keys of the contract; `point`, `misses`, `memory_kib`, `helpers_kib`, those of MORE where it has them."""
        row: dict[str, str | int | float | None] = {
            "series": self.series,
            "mpi": self.mpi,
            "ranks": self.ranks,
            "bytes": self.bytes,
            "median_us": round(self.median_us, 4),
            "repeats": self.repeats,
            "ratio_best_mpi": None if self.ratio_best_mpi is None else round(self.ratio_best_mpi, 3),
            "ratio_limit": None if self.ratio_limit is None else round(self.ratio_limit, 3),
        }
        if self.point:
            row["point"] = self.point
        if self.misses is not None:
            row["misses"] = round(self.misses, 4)
        if self.memory_kib is not None:
            row["memory_kib"] = self.memory_kib
        if self.helpers_kib is not None:
            row["helpers_kib"] = self.helpers_kib
        return row | {name: round(value, 4) for name, value in self.more}


@dataclass(frozen=True, slots=True)
class Result:
    """All rows of one benchmark run."""

    bench: str
    what: str
    """What the times are, for headings."""
    machine: str
    rows: tuple[Row, ...]
    same_mpi: bool = False
    """Ratios are to the MPI below each series, not to the better one."""

    def as_json(self) -> str:
        rows = [row.as_json() for row in self.rows]
        return json.dumps({"version": 1, "bench": self.bench, "machine": self.machine, "rows": rows}, indent=1) + "\n"

    def columns(self) -> list[Column]:
        """The (series, mpi) pairs, in the order of their first row."""
        return list(dict.fromkeys((row.series, row.mpi) for row in self.rows))

    def points(self) -> list[str]:
        """The points, in the order of their first row; one empty one where rows differ by size only."""
        return list(dict.fromkeys(row.point for row in self.rows))


def column_title(series: str, mpi: str | None) -> str:
    """`opi/mpich`, but `mpich` for the plain MPI itself."""
    return series if mpi is None or mpi == series else f"{series}/{mpi}"


def format_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Right-aligned columns under a header, separated by two spaces."""
    table = [list(header), *(list(line) for line in lines)]
    widths = [max(len(line[i]) for line in table) for i in range(len(header))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in table)


def _time(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _cells(
    result: Result, columns: Sequence[Column], cell: Callable[[Row], Sequence[str]], width: int
) -> list[list[str]]:
    """One line per size and point: the cells of each column's row, dashes where a series has none."""
    by_key = {((row.series, row.mpi), row.point, row.bytes): row for row in result.rows}
    keys = list(dict.fromkeys((row.point, row.bytes) for row in result.rows))
    keys.sort(key=lambda key: (result.points().index(key[0]), key[1]))
    lines: list[list[str]] = []
    for point, size in keys:
        line = [f"{size:,}" if not point else f"{point} {size:,}"]
        for column in columns:
            row = by_key.get((column, point, size))
            line += cell(row) if row is not None else ["-"] * width
        lines.append(line)
    return lines


def result_text(result: Result) -> str:
    """Medians, then for each series of ours the ratios to the better MPI and to the limit, then misses."""
    columns = result.columns()
    titles = [column_title(*column) for column in columns]
    parts = [
        f"{result.bench}: microseconds per {result.what}, medians; {result.machine}",
        format_table(["bytes", *titles], _cells(result, columns, lambda row: [_time(row.median_us)], 1)),
    ]
    ours = [column for column in columns if column[0].startswith(("libopi", "opi"))]
    limited = any(row.ratio_limit is not None for row in result.rows)
    if ours:
        header = ["bytes"]
        for column in ours:
            header += [f"{column_title(*column)}: MPI/it", *(["it/bare"] if limited else [])]
        which = "the MPI alone" if result.same_mpi else "the better plain MPI"
        said = f"ratios, medians over rounds. MPI/it: time of {which} / its time"
        parts += ["", said + ("; it/bare: its / the limit's" if limited else "")]

        def ratios(row: Row) -> list[str]:
            return [_ratio(row.ratio_best_mpi), *([_ratio(row.ratio_limit)] if limited else [])]

        parts.append(format_table(header, _cells(result, ours, ratios, 2 if limited else 1)))
    if any(row.misses is not None for row in result.rows):
        parts += ["", "misses of the first-level cache per line of the data"]
        parts.append(format_table(["bytes", *titles], _cells(result, columns, lambda row: [_ratio(row.misses)], 1)))
    for name in dict.fromkeys(name for row in result.rows for name, _ in row.more):
        having = replace(result, rows=tuple(row for row in result.rows if name in dict(row.more)))
        parts += ["", MORE[name], format_table(["bytes", *titles], _more_cells(having, columns, name))]
    return "\n".join(parts)


def _more_cells(result: Result, columns: Sequence[Column], name: str) -> list[list[str]]:
    def cell(row: Row) -> list[str]:
        value = dict(row.more)[name]
        return [f"{value:.2f}" if abs(value) < 1000 else f"{value:,.0f}"]

    return _cells(result, columns, cell, 1)


def save_plot(result: Result, path: Path) -> None:
    """Two log-log plots: bandwidth (as in the papers) and time over message size, one line per series and point.

    Results of one size only, or of none, are drawn as bars of time. Raises ImportError without matplotlib.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    sizes = {row.bytes for row in result.rows}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(14, 6))
    for column in result.columns():
        for point in result.points():
            rows = [row for row in result.rows if (row.series, row.mpi) == column and row.point == point]
            title = f"{column_title(*column)} {point}".strip()
            if len(sizes) == 1:
                right.barh(title, rows[0].median_us) if rows else None
                continue
            rows.sort(key=lambda row: row.bytes)
            at = [row.bytes for row in rows]
            left.plot(at, [row.bytes / row.median_us for row in rows], "o-", label=title, markersize=4)
            right.plot(at, [row.median_us for row in rows], "o-", label=title, markersize=4)
    for axes, name in ((left, "bytes per microsecond = MB/s"), (right, f"microseconds per {result.what}")):
        if len(sizes) > 1:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xlabel("bytes")
            axes.set_ylabel(name)
            axes.legend(fontsize=7)
        else:
            axes.set_xlabel(name)
        axes.grid(True, which="both", alpha=0.3)
    if len(sizes) == 1:
        figure.delaxes(left)
    ranks = result.rows[0].ranks if result.rows else 0
    figure.suptitle(f"{result.bench}, {ranks} ranks\n{result.machine}", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
