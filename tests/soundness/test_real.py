"""The harness for programs of others: what a line of facts says, when two runs agree, and what it says of a program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opi_xform.launch.mpi import LaunchError, find_mpi

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.real import agree, program_of, programs

ROOT = Path(__file__).resolve().parents[2]
RING = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    int rank, size, n = SIZE;
    double *b = malloc(n * sizeof *b);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        for (int to = 1; to < size; to++) {
            for (int i = 0; i < n; i++)
                b[i] = i + to;
            MPI_Send(b, n, MPI_DOUBLE, to, 1, MPI_COMM_WORLD);
        }
    } else {
        MPI_Recv(b, n, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d: %g, %s\\n", rank, b[n - 1], argv[1]);
        printf("took %g s, built at %s\\n", MPI_Wtime(), __TIME__);
    }
    free(b);
    MPI_Finalize();
    return 0;
}
"""


def test_a_line_says_what_the_command_gets(tmp_path: Path) -> None:
    for name in ("a.c", "b.c"):
        (tmp_path / name).write_text("")
    found = program_of(tmp_path, "a.c -- -DN=3 -lm -- 10 'two words' < input.txt")
    assert (found.sources, found.flags, found.arguments) == (("a.c",), ("-DN=3", "-lm"), ("10", "two words"))
    assert (found.input, found.compiled()) == ("input.txt", ("-DN=3",))
    assert program_of(tmp_path, "").sources == ("a.c", "b.c")
    with pytest.raises(ValueError, match="no file after <"):
        program_of(tmp_path, "-- -- <")


def test_each_file_with_a_main_is_a_program(tmp_path: Path) -> None:
    (tmp_path / "ring.c").write_text(RING)
    (tmp_path / "part.c").write_text("int part(void) { return 1; }\n")
    assert [p.name for p in programs([tmp_path], {}, each=True)] == ["ring.c"]
    (tmp_path.parent / f"{tmp_path.name}.facts").write_text("ring.c -- -DSIZE=4\n")
    assert [p.flags for p in programs([tmp_path], {}, each=False)] == [("-DSIZE=4",)]


@pytest.mark.parametrize(
    ("first", "second", "after", "same"),
    [
        ("1 2", "1 2", "1 2", True),
        ("1 2", "1 2", "1 3", False),
        ("sum 7 took 3", "sum 7 took 4", "sum 7 took 5", True),
        ("sum 7 took 3", "sum 7 took 4", "sum 8 took 5", False),
        ("1", "1", "1 2", False),
    ],
)
def test_only_what_the_original_changes_may_change(first: str, second: str, after: str, same: bool) -> None:
    assert agree((0, first), (0, second), (0, after)) is same
    assert not agree((0, first), (0, second), (1, after))


@pytest.mark.mpi
def test_a_program_is_analysed_built_and_run(tmp_path: Path) -> None:
    try:
        find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))
    folder = tmp_path / "ring"
    folder.mkdir()
    (folder / "ring.c").write_text(RING)
    command = [sys.executable, "-m", "tests.machines.real", str(folder), "--facts", f"{folder}=-- -DSIZE=3000 -- seven"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    cells = [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")]
    assert cells[1:4] == ["ring", "26", "ends"]
    assert cells[6:] == ["2", "2", "", "both", "same", "same", ""]


@pytest.mark.mpi
def test_an_original_that_prints_lines_now_and_then_tells_nothing(tmp_path: Path) -> None:
    try:
        find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))
    folder = tmp_path / "ring"
    folder.mkdir()
    runs = tmp_path / "runs"  # a byte longer with each run of a rank
    more = f"""    FILE *runs = fopen("{runs}", "a");
    fputc('x', runs);
    for (long k = ftell(runs); k > 0; k--)
        printf("again\\n");
    fclose(runs);
    free(b);"""
    (folder / "ring.c").write_text(RING.replace("    free(b);", more))
    command = [sys.executable, "-m", "tests.machines.real", str(folder), "--facts", f"{folder}=-- -DSIZE=3000 -- seven"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert [cell.strip() for cell in done.stdout.splitlines()[-1].split("|")][10:12] == ["varies", "varies"], (
        done.stdout
    )
