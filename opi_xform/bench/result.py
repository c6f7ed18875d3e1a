"""What a benchmark found, as a table, as JSON, and as a plot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One series at one message size."""

    series: str
    """`mpich`, `openmpi`: the program by that plain MPI; `bare`: the limit; `libopi`: untransformed, linked with
    libopi; `opi`: transformed."""
    mpi: str | None
    """The MPI it ran over; None for `bare`."""
    ranks: int
    bytes: int
    median_us: float
    repeats: int
    ratio_best_mpi: float | None
    """Time of the better plain MPI / this time, median over the rounds: above 1 is faster than MPI."""
    ratio_limit: float | None
    """This time / the limit's, median over the rounds."""

    def as_json(self) -> dict[str, str | int | float | None]:
        return {
            "series": self.series,
            "mpi": self.mpi,
            "ranks": self.ranks,
            "bytes": self.bytes,
            "median_us": round(self.median_us, 4),
            "repeats": self.repeats,
            "ratio_best_mpi": None if self.ratio_best_mpi is None else round(self.ratio_best_mpi, 3),
            "ratio_limit": None if self.ratio_limit is None else round(self.ratio_limit, 3),
        }


@dataclass(frozen=True, slots=True)
class Result:
    """All rows of one benchmark run."""

    bench: str
    machine: str
    rows: tuple[Row, ...]

    def as_json(self) -> str:
        rows = [row.as_json() for row in self.rows]
        return json.dumps({"version": 1, "bench": self.bench, "machine": self.machine, "rows": rows}, indent=1) + "\n"

    def columns(self) -> list[tuple[str, str | None]]:
        """The (series, mpi) pairs, in the order of their first row."""
        return list(dict.fromkeys((row.series, row.mpi) for row in self.rows))


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


def result_text(result: Result) -> str:
    """Medians, then for each series of ours the ratios to the better MPI and to the limit."""
    columns = result.columns()
    by_key = {((row.series, row.mpi), row.bytes): row for row in result.rows}
    sizes = sorted({row.bytes for row in result.rows})
    medians = [[f"{size:,}", *(_time(by_key[column, size].median_us) for column in columns)] for size in sizes]
    parts = [
        f"{result.bench}: microseconds per pack + exchange + unpack, medians; {result.machine}",
        format_table(["bytes", *(column_title(*column) for column in columns)], medians),
    ]
    ours = [column for column in columns if column[0] in ("libopi", "opi")]
    if ours:
        header = ["bytes"]
        for column in ours:
            header += [f"{column_title(*column)}: MPI/it", "it/bare"]
        lines = []
        for size in sizes:
            line = [f"{size:,}"]
            for column in ours:
                row = by_key[column, size]
                line += [_ratio(row.ratio_best_mpi), _ratio(row.ratio_limit)]
            lines.append(line)
        parts += [
            "",
            "ratios, medians over rounds. MPI/it: time of the better plain MPI / its time; it/bare: its / the limit's",
        ]
        parts.append(format_table(header, lines))
    return "\n".join(parts)


def save_plot(result: Result, path: Path) -> None:
    """Time over message size, one line per series. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    for series, mpi in result.columns():
        rows = [row for row in result.rows if (row.series, row.mpi) == (series, mpi)]
        axes.plot([row.bytes for row in rows], [row.median_us for row in rows], "o-", label=column_title(series, mpi))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("bytes per message")
    axes.set_ylabel("microseconds per pack + exchange + unpack")
    axes.set_title(f"{result.bench}, 2 ranks\n{result.machine}", fontsize=9)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
