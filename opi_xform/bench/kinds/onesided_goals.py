"""What the rows of the benchmarks `onesided` and `skew` say of the goals of one-sided windows: which points reach them,
which miss them, and how far the limit of this machine, measured in the same rounds, lies from both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opi_xform.bench.result import Column, Result, Row, column_title, format_table, result_text

OURS = "libopi"
LIMIT = "bare"
SYNCS = ("fence", "pscw", "lock", "lock_all")
LONG = (16 << 10, 32 << 10, 64 << 10)
SMALL = 8
TWICE_MOST = 64 << 10
"""Bytes up to which windows of MPI_Win_create are to be twice as fast as the better MPI."""
TWICE = 2.0
SLOWER = 1.05
"""Times the better MPI's time from which on a point counts as slower."""

LATE = 1.1
"""Times a punctual target's time up to which a late one may take the origin's."""
MEMCPY = re.compile("copy-|fenced-")
"""In points that are none of a window's."""

Rows = dict[tuple[Column, str, int], Row]


def _rows(result: Result) -> Rows:
    return {((row.series, row.mpi), row.point, row.bytes): row for row in result.rows}


def _ours(result: Result) -> list[Column]:
    return [column for column in result.columns() if column[0] == OURS]


def _span(values: Sequence[float]) -> str:
    least, most = f"{min(values):.2f}", f"{max(values):.2f}"
    return least if least == most else f"{least} to {most}"


def _times(rows: Rows, column: Column, point: str, copy: str, size: int) -> list[float]:
    """A point's time / a copy's, put and get."""
    pairs = [
        (rows.get((column, point.format(way), size)), rows.get((column, copy.format(way), size)))
        for way in ("put", "get")
    ]
    return [mine.median_us / plain.median_us for mine, plain in pairs if mine and plain]


def against_memcpy(result: Result) -> Iterator[str]:
    """Put and get against memcpy of the same bytes, in turns with it: in a row, and one alone. In brackets what memcpy
    takes with the full fence of memory that a flush promises."""
    rows = _rows(result)
    for column in _ours(result):
        for what, point, copy in (
            ("in a row", "row-{}-lock_all-shared", "row-copy-{}-lock_all-shared"),
            ("a single one", "{}-lock_all-shared", "copy-{}-lock_all-shared"),
        ):
            said: list[str] = []
            for size in LONG:
                found = _times(rows, column, point, copy, size)
                limit = _times(rows, column, f"fenced-{point}", copy, size)
                if found:
                    said.append(f"{size >> 10} KiB {_span(found)}{f' ({_span(limit)})' if limit else ''}")
            if said:
                yield f"  {column_title(*column)}, {what}: {', '.join(said)}"


def of_eight_bytes(result: Result) -> list[list[str]]:
    """Microseconds of an epoch with 8 bytes, ours and the limit's, put and get."""
    rows = _rows(result)
    lines: list[list[str]] = []
    for kind in ("allocate", "create"):
        for sync in SYNCS:
            line = [f"{sync}, {kind}"]
            for column in (*_ours(result), (LIMIT, None)):
                found = [rows.get((column, f"{way}-{sync}-{kind}", SMALL)) for way in ("put", "get")]
                line.append(", ".join(f"{row.median_us:.3f}" if row else "-" for row in found))
            lines.append(line)
    return lines


def _limit(rows: Rows, row: Row) -> float | None:
    """The limit's time for a point: its epoch, or under a lock the kernel's copy where that is quicker."""
    epoch = rows.get(((LIMIT, None), row.point, row.bytes))
    way, sync = row.point.split("-")[:2]
    kernel = rows.get(((LIMIT, None), f"kernel-{way}-lock_all-create", row.bytes)) if sync.startswith("lock") else None
    return min((one.median_us for one in (epoch, kernel) if one), default=None)


def twice(result: Result) -> tuple[list[str], list[list[str]]]:
    """How many points of MPI_Win_create are twice as fast as the better MPI, how many could be; and the missed ones.

    A point could be where the better MPI takes twice the limit's time."""
    rows = _rows(result)
    plain = [column for column in result.columns() if column[0] == column[1]]
    said: list[str] = []
    missed: list[list[str]] = []
    for column in _ours(result):
        points = [
            row
            for (at, point, size), row in rows.items()
            if at == column and point.endswith("-create") and size <= TWICE_MOST and row.ratio_best_mpi is not None
        ]
        reached = could = 0
        for row in points:
            best = min(rows[at, row.point, row.bytes].median_us for at in plain)
            limit = _limit(rows, row)
            possible = limit is not None and best >= TWICE * limit
            ratio = row.ratio_best_mpi or 0.0
            reached += ratio >= TWICE
            could += possible or ratio >= TWICE
            if ratio < TWICE:
                off = f"{row.median_us / limit:.2f}" if limit else "-"
                shown = f"{limit:.3f}" if limit else "-"
                name = f"{column_title(*column)} {row.point} {row.bytes:,}"
                times = [f"{best:.3f}", f"{row.median_us:.3f}", shown]
                missed.append([name, *times, f"{ratio:.2f}", off, "yes" if possible else "no"])
        said.append(f"  {column_title(*column)}: {reached} of {len(points)} points; by the limit {could} could be")
    return said, missed


def slower(result: Result) -> Iterator[str]:
    """Points that are slower than the better MPI."""
    for column in _ours(result):
        rows = [
            row
            for row in result.rows
            if (row.series, row.mpi) == column and row.ratio_best_mpi is not None and not MEMCPY.search(row.point)
        ]
        found = [row for row in rows if row.ratio_best_mpi and row.ratio_best_mpi * SLOWER < 1]
        which = ", ".join(f"{row.point} {row.bytes:,} ({1 / (row.ratio_best_mpi or 1):.2f})" for row in found)
        yield f"  {column_title(*column)}: {len(found)} of {len(rows)} points{': ' + which if which else ''}"


def text_of(result: Result) -> str:
    """Times and ratios, then the goals."""
    titles = [column_title(*column) for column in _ours(result)]
    counted, missed = twice(result)
    parts = [
        result_text(result),
        "",
        "goals. Time of a put or get / memcpy's, of windows in reach; at most 1.15 (memcpy and a fence of memory):",
        *against_memcpy(result),
        "",
        f"microseconds of an epoch with {SMALL} bytes, put and get; at most 0.15:",
        format_table(["", *titles, "limit"], of_eight_bytes(result)),
        "",
        f"at least twice as fast as the better MPI, MPI_Win_create up to {TWICE_MOST >> 10} KiB:",
        *counted,
    ]
    if missed:
        header = ["missed", "better MPI", "it", "limit", "MPI/it", "it/limit", "could be"]
        parts.append(format_table(header, missed))
    parts += ["", f"slower than the better MPI, from {SLOWER} times on:", *slower(result)]
    return "\n".join(parts)


def late(result: Result) -> list[list[str]]:
    """Of `skew`: the origin's time with a late target / with a punctual one, for each pair of points of ours; and the
    late one's / that of the least there has to be. That is a copy into shared memory, or as many copies by the kernel:
    under a lock of memory that the origin does not reach."""
    rows = _rows(result)
    lines: list[list[str]] = []
    for column in _ours(result):
        for (at, point, size), row in rows.items():
            other = rows.get((column, point.replace("-late-", "-punctual-"), size))
            if at != column or "-late-" not in point or not other:
                continue
            copies = rows.get(((LIMIT, None), f"kernel-{point}", size)) or rows.get(((LIMIT, None), point, size))
            least = copies.median_us if copies else None
            times = row.median_us / other.median_us
            shown = [f"{row.median_us:.1f}", f"{other.median_us:.1f}", f"{least:.1f}" if least else "-"]
            off = f"{row.median_us / least:.2f}" if least else "-"
            name = f"{column_title(*column)} {point}"
            lines.append([name, *shown, f"{times:.2f}", off, "" if times <= LATE else "missed"])
    return lines


def late_text_of(result: Result) -> str:
    """Of `skew`: times and ratios, then the goal."""
    lines = late(result)
    reached = sum(not line[-1] for line in lines)
    goal = f"goal. Time with a late target / with a punctual one at most {LATE}: {reached} of {len(lines)} points."
    limit = "limit: a copy into shared memory; under a lock of MPI_Win_create the kernel's copies"
    header = ["", "late", "punctual", "limit", "late/punctual", "late/limit", ""]
    return "\n".join([result_text(result), "", goal, limit, format_table(header, lines)])
