"""What the rows of `onesided` say of the goals: which points are reached, which missed, and whether they could be."""

from __future__ import annotations

from opi_xform.bench.kinds import onesided_goals
from opi_xform.bench.result import Result, Row


def row(series: str, point: str, size: int, us: float, ratio: float | None = None, mpi: str | None = "mpich") -> Row:
    return Row(series, mpi, 2, size, us, 5, ratio, None, point)


def result(*rows: Row) -> Result:
    return Result("onesided", "epoch", "a machine", rows)


def of_a_point(point: str, size: int, mpi: float, ours: float, limit: float) -> tuple[Row, ...]:
    return (
        row("mpich", point, size, mpi, 1.0),
        row("bare", point, size, limit, mpi / limit, None),
        row("libopi", point, size, ours, mpi / ours),
    )


def test_copies_are_against_those_in_turns_with_them() -> None:
    said = [
        *onesided_goals.against_memcpy(
            result(
                row("libopi", "row-put-lock_all-shared", 16384, 0.22),
                row("libopi", "row-copy-put-lock_all-shared", 16384, 0.2),
                row("libopi", "row-get-lock_all-shared", 16384, 0.3),
                row("libopi", "row-copy-get-lock_all-shared", 16384, 0.2),
                row("libopi", "put-lock_all-shared", 65536, 0.6),
                row("libopi", "copy-put-lock_all-shared", 65536, 0.5),
            )
        )
    ]
    assert said == ["  libopi/mpich, in a row: 16 KiB 1.10 to 1.50", "  libopi/mpich, a single one: 64 KiB 1.20"]


def test_a_missed_point_could_be_where_the_mpi_takes_twice_the_limit() -> None:
    found = result(
        *of_a_point("put-fence-create", 8, 1.0, 0.5, 0.4),  # reached
        *of_a_point("get-pscw-create", 8, 1.0, 0.6, 0.45),  # missed, and could be
        *of_a_point("get-lock-create", 8192, 1.0, 0.6, 0.6),  # could not
        *of_a_point("get-lock-create", 16384, 3.0, 2.0, 2.0),  # by the kernel
        row("bare", "kernel-get-lock_all-create", 16384, 1.4, 2.1, None),
        *of_a_point("get-lock-create", 131072, 1.0, 0.9, 0.6),  # too long to count
        *of_a_point("get-lock-allocate", 8, 1.0, 0.9, 0.6),  # another kind
    )
    counted, missed = onesided_goals.twice(found)
    assert counted == ["  libopi/mpich: 1 of 4 points; by the limit 3 could be"]
    assert [(line[0], line[3], line[-2], line[-1]) for line in missed] == [
        ("libopi/mpich get-pscw-create 8", "0.450", "1.33", "yes"),
        ("libopi/mpich get-lock-create 8,192", "0.600", "1.00", "no"),
        ("libopi/mpich get-lock-create 16,384", "1.400", "1.43", "yes"),
    ]


def test_slower_points_are_named_and_copies_are_none() -> None:
    found = result(
        *of_a_point("put-lock-allocate", 8, 1.0, 1.04, 0.4),
        *of_a_point("put-lock-allocate", 524288, 5.0, 5.5, 0.4),
        row("libopi", "row-copy-put-lock_all-shared", 8, 2.0, 0.5),
    )
    assert [*onesided_goals.slower(found)] == ["  libopi/mpich: 1 of 2 points: put-lock-allocate 524,288 (1.10)"]


def test_the_report_has_the_times_and_each_goal() -> None:
    text = onesided_goals.text_of(result(*of_a_point("put-fence-create", 8, 1.0, 0.5, 0.4)))
    assert "microseconds per epoch, medians; a machine" in text
    assert "at least twice as fast as the better MPI, MPI_Win_create up to 64 KiB:\n  libopi/mpich: 1 of 1" in text
    assert any(line.split() == ["fence,", "create", "0.500,", "-", "0.400,", "-"] for line in text.splitlines())
    assert "missed" not in text


def test_a_memcpy_with_a_fence_is_the_limit_of_a_single_one_and_no_point_of_a_window() -> None:
    found = result(
        row("libopi", "put-lock_all-shared", 16384, 0.26),
        row("libopi", "copy-put-lock_all-shared", 16384, 0.2),
        row("libopi", "fenced-put-lock_all-shared", 16384, 0.24, 0.5),
    )
    assert [*onesided_goals.against_memcpy(found)] == ["  libopi/mpich, a single one: 16 KiB 1.30 (1.20)"]
    assert [*onesided_goals.slower(found)] == ["  libopi/mpich: 0 of 0 points"]


def test_a_late_target_is_against_a_punctual_one_and_the_kernel_under_a_lock() -> None:
    size = 1 << 18
    found = Result(
        "skew",
        "epoch",
        "a machine",
        (
            *of_a_point("pscw-create-late-20-ms", size, 20000.0, 220.0, 200.0),
            *of_a_point("pscw-create-punctual-20-ms", size, 400.0, 200.0, 200.0),
            *of_a_point("lock-create-late-20-ms", size, 20000.0, 600.0, 200.0),
            *of_a_point("lock-create-punctual-20-ms", size, 400.0, 300.0, 200.0),
            row("bare", "kernel-lock-create-late-20-ms", size, 500.0, None, None),
        ),
    )
    assert onesided_goals.late(found) == [
        ["libopi/mpich pscw-create-late-20-ms", "220.0", "200.0", "200.0", "1.10", "1.10", ""],
        ["libopi/mpich lock-create-late-20-ms", "600.0", "300.0", "500.0", "2.00", "1.20", "missed"],
    ]
    assert "with a punctual one at most 1.1: 1 of 2 points." in onesided_goals.late_text_of(found)
