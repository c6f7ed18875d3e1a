"""What `opicc --ranks` links: profiling names of MPI functions mean the same ranks, and what these share is told."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser
from test_opicc import compiled

from opi_xform.bindings.header import read_header
from opi_xform.launch import linked
from opi_xform.launch.ranks import ensure_ranks

pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")]

PROFILING_NAMES = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, got = 0, sum = 0;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int to = 1; to < size; to++)
            PMPI_Send(&to, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(&got, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d got %d of %d\\n", rank, size, got, sum);
    return PMPI_Finalize();
}
"""

LAYER = """#include <mpi.h>
#include <stdio.h>
static _Thread_local int sends;
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
int MPI_Finalize(void)
{
    int rank, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&sends, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d sends\\n", all);
    return PMPI_Finalize();
}
"""

RING = """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, from = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(&from, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return from != (rank + size - 1) % size;
}
"""


def lines(user: MpiUser, program: Path, ranks: int, kind: str) -> list[str]:
    """What a program that ends well prints with so many ranks in one process."""
    told = {**user.environment, "OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": kind}
    done = subprocess.run([program], env=told, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def test_a_call_of_pmpi_means_these_ranks(mpi_user: MpiUser, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(PROFILING_NAMES)
    compiled(mpi_user, "--ranks", tmp_path / "app.c", "-o", tmp_path / "app")
    for kind in ("threads", "fibers"):
        told = lines(mpi_user, tmp_path / "app", 3, kind)
        assert told == ["rank 0 of 3 got 0 of 3", "rank 1 of 3 got 1 of 3", "rank 2 of 3 got 2 of 3"]


def test_a_profiling_layer_of_the_programs_own(mpi_user: MpiUser, tmp_path: Path) -> None:
    """As a source, and as an archive before which nothing asks for it but the program."""
    (tmp_path / "layer.c").write_text(LAYER)
    (tmp_path / "ring.c").write_text(RING)
    compiled(mpi_user, "--ranks", tmp_path / "ring.c", tmp_path / "layer.c", "-o", tmp_path / "source")
    compiled(mpi_user, "-c", tmp_path / "layer.c", "-o", tmp_path / "layer.o")
    subprocess.run(["ar", "rcs", tmp_path / "liblayer.a", tmp_path / "layer.o"], check=True)
    archive = ("-L", tmp_path, "-llayer")
    compiled(mpi_user, "--ranks", tmp_path / "ring.c", *archive, "-o", tmp_path / "archive")
    for name in ("source", "archive"):
        assert lines(mpi_user, tmp_path / name, 4, "threads") == ["4 sends"]
    compiled(mpi_user, "--ranks", tmp_path / "ring.c", "-o", tmp_path / "without")
    assert lines(mpi_user, tmp_path / "without", 4, "threads") == []


def test_the_library_itself_reaches_the_mpi_below(
    mpi_user: MpiUser, opi_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every function of mpi.h is defined in both ways, and no call of the library's comes back to it."""
    monkeypatch.setenv("OPI_CACHE", str(opi_cache))
    archive = ensure_ranks(mpi_user.mpi)
    listed = subprocess.run(["nm", archive], capture_output=True, text=True, check=True).stdout
    symbols = {tuple(line.split()[-2:]) for line in listed.splitlines() if len(line.split()) > 1}
    functions = read_header(mpi_user.mpi.mpicc)
    for name in functions:
        assert ("W", name) in symbols
        assert ("T", f"__wrap_P{name}") in symbols
    undefined = {name for kind, name in symbols if kind == "U"}
    assert {"__real_PMPI_Init_thread", "__real_PMPI_Type_size"} <= undefined
    assert not undefined & {*functions, *(f"P{name}" for name in functions)}


MAIN = """#include <mpi.h>
int used(int), weight(int);
static int turns;
int total = 4;
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    turns += used(1);
    total += weight(turns);
    return MPI_Finalize();
}
"""
USED = """
static int hits[10];
int seen = 3;
const int limits[2] = {1, 2};
static _Thread_local int own;
int used(int i)
{
    static int calls;
    return hits[i]++ + seen++ + limits[i] + own++ + calls++;
}
"""
TABLE = """
int weights[4] = {1, 2, 3, 4};
int weight(int i)
{
    return weights[i & 3];
}
"""
HOW = "note: opi-xform --privatize gives each rank its own; --no-warn-shared ends these warnings"


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the sources of a program, and one that is no part of it."""
    for name, text in (("main", MAIN), ("used", USED), ("table", TABLE), ("spare", "int spare[9];\n")):
        (tmp_path / f"{name}.c").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(user: MpiUser, *arguments: str | Path) -> list[str]:
    """What opicc says of a program that links."""
    said = compiled(user, "--ranks", "-g", *arguments, "-o", "program").err
    return [line.removeprefix("opicc: ") for line in said.splitlines()]


def archive(user: MpiUser, name: str, *sources: str | Path) -> str:
    objects = []
    for source in map(Path, sources):
        objects.append(f"{source.stem}-{name}.o")
        compiled(user, "-g", "-c", source, "-o", objects[-1])
    subprocess.run(["ar", "rcs", name, *objects], check=True)
    return name


def private(user: MpiUser, form: str, *sources: str | Path) -> list[Path]:
    """What `--privatize` makes of them."""
    command = [sys.executable, "-c", "from opi_xform.cli.main import script; script()", *sources]
    command += [f"--privatize={form}", "-o", f"{form}/"]
    subprocess.run(command, env=user.environment, capture_output=True, check=True)
    return [Path(form) / Path(source).name for source in sources]


def first_only(user: MpiUser) -> None:
    if user.mpi != MPIS[0]:
        pytest.skip("the MPI has no part in this")


def test_variables_that_were_left_shared_are_told(mpi_user: MpiUser, three: Path) -> None:
    """By source, object and archive; constants, what is private by hand, and members that nothing needs, are not."""
    main, table = "main.c: 2 variables that all ranks share: total, turns", "1 variable that all ranks share: weights"
    compiled(mpi_user, "-c", "table.c", "-o", "table.o")
    assert told(mpi_user, "main.c", archive(mpi_user, "libused.a", "used.c", "spare.c"), "table.o", "-lm") == [
        f"warning: {main}",
        f"warning: table.o: {table}",
        "warning: libused.a: 3 variables that all ranks share: seen, hits, calls",
        HOW,
    ]
    assert told(mpi_user, "main.c", "used.c", "table.c", "--no-warn-shared") == []


def test_a_long_list_is_counted(mpi_user: MpiUser, three: Path) -> None:
    first_only(mpi_user)
    (three / "many.c").write_text("int a = 1, b, c, d, e, f; int main(void) { return 0; }\n")
    assert told(mpi_user, "many.c")[0].endswith("6 variables that all ranks share: a, b, c, d and 2 more")


@pytest.mark.parametrize("form", ["tls", "struct"])
def test_a_private_program_is_not_warned_of(mpi_user: MpiUser, three: Path, form: str) -> None:
    """Tables that nothing writes stay shared, in files that have nothing else, too."""
    main, used, table = private(mpi_user, form, "main.c", "used.c", "table.c")
    assert told(mpi_user, main, used, table) == []
    assert told(mpi_user, main, archive(mpi_user, "liball.a", used, table)) == []
    left_out = "used.c: 3 variables that all ranks share: seen, hits, calls"
    assert told(mpi_user, main, "used.c", table) == [f"warning: {left_out}", HOW]


@pytest.mark.parametrize("form", ["tls", "struct"])
def test_a_real_program_is_not_warned_of(mpi_user: MpiUser, three: Path, form: str) -> None:
    first_only(mpi_user)
    sources = sorted((CHECKOUT / "testdata" / "halo2d").glob("*.c"))
    assert told(mpi_user, *private(mpi_user, form, *sources), "-O1", "-lm", "-pthread") == []


def test_shared_libraries_are_noted(mpi_user: MpiUser, three: Path) -> None:
    """The system's and the MPI's apart; one that calls PMPI_x does not get these ranks."""
    (three / "layer.c").write_text(LAYER)
    for name in ("used", "layer", "table"):
        compiled(mpi_user, "-shared", "-fPIC", f"{name}.c", "-o", f"lib{name}.so")
    main = private(mpi_user, "tls", "main.c")
    libraries = ("-L.", "-lused", "-Wl,--no-as-needed", "-llayer", "-Wl,--as-needed", "./libtable.so", "-lm")
    assert told(mpi_user, *main, *libraries) == [
        "note: all ranks of a process share the variables of libused.so, liblayer.so, libtable.so",
        "warning: liblayer.so calls PMPI_Finalize, PMPI_Reduce, PMPI_Send: these reach the MPI below, not the ranks",
    ]


def test_the_users_own_map_is_written_and_read(mpi_user: MpiUser, three: Path) -> None:
    first_only(mpi_user)
    assert len(told(mpi_user, "main.c", "used.c", "table.c", "-Wl,-Map=own.map")) == 3
    assert "main" in (three / "own.map").read_text()


@pytest.mark.parametrize("linker", ["gold", "lto"])
def test_where_objects_have_no_names_the_program_is_named(mpi_user: MpiUser, three: Path, linker: str) -> None:
    first_only(mpi_user)
    if linker == "gold" and shutil.which("ld.gold") is None:
        pytest.skip("no gold")
    flag = "-flto" if linker == "lto" else "-fuse-ld=gold"
    lines = told(mpi_user, "main.c", "used.c", "table.c", flag, "-O0")
    assert len(lines) == 2
    assert lines[0].startswith("warning: the program: ")
    assert "variables that all ranks share: " in lines[0]


def test_the_output_and_the_map_of_a_command() -> None:
    assert linked.output_of(["a.c", "-o", "b"]) == Path("b")
    assert linked.output_of(["a.c", "-ob"]) == Path("b")
    assert linked.output_of(["a.c"]) == Path("a.out")
    assert linked.map_of(["a.c", "-Wl,-z,now,-Map,own"]) == (True, Path("own"))
    assert linked.map_of(["-Wl,--print-map"]) == (True, None)
    assert linked.map_of(["-O2"]) == (False, None)
