"""opi-bench compare: runs of a small program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from conftest import MPIS, MpiUser

from opi_xform.bench.whole.compare import LINKED, PLAIN, TRANSFORMED
from opi_xform.resources import resource

COMMAND = [sys.executable, "-m", "opi_xform.bench.main", "compare"]
SCHEMA = json.loads(resource("docs", "schema", "compare-1.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required"),
        (["nosuch.c"], "nosuch.c: no such file"),
        (["nosuch"], "nosuch: no such program"),
        (["a.c", "/bin/true"], "/bin/true: not a .c file"),
        (["/bin/true", "/bin/true", "5"], "follow --"),
        (["/bin/true", "5"], "follow --"),
        (["/bin/true"], "not a program that loads an MPI"),
        (["/bin/true", "--flags", "-O3"], "--flags"),
        (["a.c", "-n", "0"], "-n 0"),
        (["a.c", "--ignore-lines", "("], "--ignore-lines"),
        (["a.c", "--cwd", "nosuch"], "--cwd nosuch"),
        (["a.c", "--mpi", "nosuch"], "--mpi nosuch"),
        (["a.c", "--plot", "a.gif"], "--plot"),
    ],
)
def test_bad_usage_is_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


HALO = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define N 4000
static double from[N], to[N];
int main(int argc, char **argv)
{
    int rank, size, level;
    double sum = 0;
    char hidden[8] = "";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = fopen("input", "r");
    if (!file || fscanf(file, "%7s", hidden) != 1)
        MPI_Abort(MPI_COMM_WORLD, 4);
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < N; i++)
            to[i] = rank + step + i;
        MPI_Sendrecv(to, N, MPI_DOUBLE, (rank + 1) % size, 1, from, N, MPI_DOUBLE, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < N; i++)
            sum += from[i];
    }
    if (argc > 1 && LINKED)
        sum += 1;
    if (argc > 2 && LINKED)
        sleep(60);
    printf("%s rank %d sum %.3f\\n", hidden, rank, sum);
    printf("Time %.9f\\n", MPI_Wtime());
    MPI_Finalize();
    return 0;
}
"""
IN_OURS = "(&OPI_Alloc != 0)"
"""What LINKED is in a program that notices libopi."""
NOTICES = "#include <stddef.h>\nextern int OPI_Alloc(void *, size_t) __attribute__((weak));\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "input").write_text("word\n")
    (tmp_path / "halo.c").write_text(HALO)
    return tmp_path


def run(folder: Path, user: MpiUser, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=user.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def first(user: MpiUser) -> None:
    """The others take seconds to start a job, and what is tried does not depend on the MPI."""
    if user.mpi != MPIS[0]:
        pytest.skip("under the first MPI")


@pytest.mark.mpi
def test_sources_are_built_and_compared(program: Path, mpi_user: MpiUser) -> None:
    """By all MPIs at once."""
    first(mpi_user)
    named = [word for mpi in MPIS for word in ("--mpi", str(mpi.mpicc))]
    options = ("--flags", "-O1 -DLINKED=0", "--rounds", "1", "--json", "r.json", "--plot", "r.svg")
    done = run(program, mpi_user, "halo.c", *named, *options, "--", "a")
    assert done.returncode == 0, done.stdout + done.stderr
    value = json.loads((program / "r.json").read_text())
    jsonschema.validate(value, SCHEMA)
    kinds = [mpi.kind for mpi in MPIS]
    expected = [*((PLAIN, kind) for kind in kinds), (LINKED, kinds[0]), (TRANSFORMED, kinds[0])]
    assert [(one["form"], one["mpi"]) for one in value["forms"]] == expected
    assert value["sites"] == {"all": 2, "converted": 2}
    assert value["forms"][-1]["ways"] == {"give": {"messages": 10, "bytes": 10 * 32000}}
    assert value["forms"][-1]["copies"]["saved_bytes"] == 2 * 10 * 32000
    assert all(len(one["total_s"]) == 1 and one["in_mpi_s"] > 0 for one in value["forms"])
    assert value["not_compared"][0].startswith("Time ")
    assert "outputs: the same (4 lines)" in done.stdout
    assert (program / "r.svg").exists()


@pytest.mark.mpi
def test_programs_are_compared(program: Path, mpi_user: MpiUser) -> None:
    """libopi is in the one and loaded before the other."""
    source = program / "halo.c"
    mpi_user.mpicc("-DLINKED=0", source, "-o", program / "plain")
    mpi_user.opicc("-DLINKED=0", source, "-o", program / "ours")
    done = run(program, mpi_user, "./plain", "./ours", "--rounds", "1", "--json", "r.json")
    assert done.returncode == 0, done.stdout + done.stderr
    forms = json.loads((program / "r.json").read_text())["forms"]
    assert [one["form"] for one in forms] == [PLAIN, LINKED, TRANSFORMED]
    assert all(one["in_mpi_s"] > 0 and one["failed"] is None for one in forms)
    assert [one["communication_s"] is None for one in forms] == [False, True, True]
    assert forms[2]["ways"] == forms[1]["ways"] == {"heap": {"messages": 10, "bytes": 320000}}


@pytest.mark.mpi
def test_another_output_ends_with_1(program: Path, mpi_user: MpiUser) -> None:
    """The program notices libopi, and prints another sum."""
    first(mpi_user)
    source = program / "halo.c"
    source.write_text(NOTICES + HALO)
    mpi_user.mpicc(f"-DLINKED={IN_OURS}", source, "-o", program / "plain")
    done = run(program, mpi_user, "./plain", "--rounds", "1", "--", "a")
    assert done.returncode == 1
    assert "DIFFER: linked" in done.stdout


@pytest.mark.mpi
def test_a_run_that_fails_or_hangs_is_one_line(program: Path, mpi_user: MpiUser) -> None:
    first(mpi_user)
    source = program / "halo.c"
    source.write_text(NOTICES + HALO)
    mpi_user.mpicc(f"-DLINKED={IN_OURS}", source, "-o", program / "plain")
    done = run(program, mpi_user, "./plain", "--rounds", "1", "--timeout", "4", "--", "a", "b")
    assert done.returncode == 1
    assert f"compare: linked/{mpi_user.mpi.kind}: no end after 4 s" in done.stderr
    assert "Traceback" not in done.stderr
    (program / "input").unlink()
    done = run(program, mpi_user, "./plain", "--rounds", "1")
    assert done.returncode == 1
    assert f"compare: {mpi_user.mpi.kind}: exit code" in done.stderr
    assert "No plain run came to its end" in done.stdout


@pytest.mark.mpi
def test_a_build_that_fails_says_so(program: Path, mpi_user: MpiUser) -> None:
    first(mpi_user)
    (program / "halo.c").write_text("#include <mpi.h>\nint main(void) { return nothing; }\n")
    done = run(program, mpi_user, "halo.c", "--rounds", "1")
    assert done.returncode == 2
    assert "opi-xform failed" in done.stderr
    assert "Traceback" not in done.stderr
    (program / "halo.c").write_text("#include <mpi.h>\nint elsewhere(void);\nint main(void) { return elsewhere(); }\n")
    done = run(program, mpi_user, "halo.c", "--rounds", "1")
    assert done.returncode == 2
    assert "--wrap" not in done.stderr, "what is wrapped for the times is no word of the user's"
    assert done.stderr.endswith('libraries stand in --flags, as in --flags "-O2 -lm"\n')
