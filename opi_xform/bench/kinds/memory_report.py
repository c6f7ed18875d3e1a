"""What the benchmark `memory` found, as tables and as a plot."""

from __future__ import annotations

from pathlib import Path

from opi_xform.bench.result import Result, Row, column_title, format_table


def _mib(kib: int | None) -> str:
    return "-" if kib is None else f"{kib / 1024:.1f}"


def saving(result: Result, row: Row) -> float | None:
    """Memory of the processes of the row's MPI, for the same program and ranks, over the row's."""
    plain = [
        one.memory_kib
        for one in result.rows
        if one.series == row.mpi and (one.point, one.ranks) == (row.point, row.ranks) and one.memory_kib
    ]
    return plain[0] / row.memory_kib if plain and row.memory_kib else None


def text_of(result: Result) -> str:
    """For each program a table: MiB by ranks and series, and how many times as much the MPI's processes take."""
    columns = result.columns()
    titles = [column_title(*column) for column in columns]
    ours = [column for column in columns if column[0] != column[1]]
    parts = [f"memory: MiB, proportional set size of the ranks' processes before MPI_Finalize; {result.machine}"]
    for point in result.points():
        by_key = {((row.series, row.mpi), row.ranks): row for row in result.rows if row.point == point}
        lines = []
        for ranks in sorted({at for _, at in by_key}):
            found = [by_key.get((column, ranks)) for column in columns]
            ratios = [saving(result, row) if (row := by_key.get((column, ranks))) else None for column in ours]
            sizes = [_mib(row.memory_kib if row else None) for row in found]
            lines.append([str(ranks), *sizes, *("-" if ratio is None else f"{ratio:.1f}" for ratio in ratios)])
        header = ["ranks", *titles, *(f"{mpi} : {series}" for series, mpi in ours)]
        parts += ["", point, format_table(header, lines)]
    most: dict[str, int] = {}
    for row in result.rows:
        title = column_title(row.series, row.mpi)
        most[title] = max(most.get(title, 0), row.helpers_kib or 0)
    parts += ["", "not counted: the launcher's processes, at most"]
    parts.append(", ".join(f"{title} {_mib(kib)} MiB" for title, kib in most.items()))
    return "\n".join(parts)


def save_plot(result: Result, path: Path) -> None:
    """A log-log plot of memory over ranks for each program. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    points = result.points()
    wide = min(2, len(points))
    high = (len(points) + wide - 1) // wide
    figure, grid = pyplot.subplots(high, wide, figsize=(6 * wide, 4 * high), squeeze=False)
    flat = [axes for line in grid for axes in line]
    for axes in flat[len(points) :]:
        figure.delaxes(axes)
    for axes, point in zip(flat, points, strict=False):
        for column in result.columns():
            rows = [row for row in result.rows if (row.series, row.mpi) == column and row.point == point]
            rows.sort(key=lambda row: row.ranks)
            mib = [(row.memory_kib or 0) / 1024 for row in rows]
            axes.plot([row.ranks for row in rows], mib, "o-", label=column_title(*column), markersize=4)
        ticks = sorted({row.ranks for row in result.rows})
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.yaxis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%g"))
        axes.set_title(point, fontsize=10)
        axes.set_xlabel("ranks")
        axes.set_ylabel("MiB of all ranks (PSS)")
        axes.grid(True, alpha=0.3)
        axes.legend(fontsize=7)
    figure.suptitle(f"memory before MPI_Finalize\n{result.machine}", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
