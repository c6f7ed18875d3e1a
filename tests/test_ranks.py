"""Thread and fiber ranks: the programs of runtime/tests/ranks on both carriers, the launcher, what ends a job."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, Run

from opi_xform.bindings.header import read_header
from opi_xform.bindings.ranks import kind_of, ranks_source_dir, read_ranks_table, written
from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.opirun import parse
from opi_xform.launch.ranks import Carrier, ensure_ranks, link_flags
from opi_xform.resources import runtime_include_dir

PROGRAMS = CHECKOUT / "runtime" / "tests" / "ranks"
pytestmark = pytest.mark.skipif(not MPIS, reason="no mpicc: set OPI_MPICC")

Built = Callable[..., Path]


@pytest.fixture(scope="session")
def built(mpi_user: MpiUser, opi_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Builds a program of the directory, or a text, with libopi_ranks; once."""
    folder, done = tmp_path_factory.mktemp("ranks"), dict[tuple[str, ...], Path]()

    def build(name: str, *options: str) -> Path:
        key = (name, *options)
        if key not in done:
            source = PROGRAMS / f"{name}.c"
            if "\n" in name:
                source = folder / f"text{len(done)}.c"
                source.write_text(name)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("OPI_CACHE", str(opi_cache))
                flags = link_flags(ensure_ranks(mpi_user.mpi))
            done[key] = folder / f"{source.stem}{len(done)}"
            mpi_user.mpicc("-O1", f"-I{runtime_include_dir()}", source, *options, *flags, "-o", done[key])
        return done[key]

    return build


def run(user: MpiUser, program: Path, ranks: int, kind: str, *arguments: str, **environment: str) -> Run:
    """The program by itself: the process starts its ranks; opirun only sets the variables."""
    told = {**user.environment, "OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": kind, **environment}
    done = subprocess.run(
        [program, *arguments],
        env=told,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def enough(user: MpiUser) -> None:
    """What the MPI below has no part in is tested with one."""
    if user.mpi != MPIS[0]:
        pytest.skip("the MPI below has no part in this")


def sizes(user: MpiUser) -> tuple[int, ...]:
    """Open MPI takes a second to start."""
    return (1, 2, 3, 5, 8, 16) if user.mpi.kind == "mpich" else (5,)


@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize("name", ["colls", "comms", "p2p"])
def test_every_call_gives_what_was_computed_directly(mpi_user: MpiUser, built: Built, name: str, kind: str) -> None:
    for ranks in sizes(mpi_user):
        result = run(mpi_user, built(name), ranks, kind)
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), (ranks, result.err)


def test_ranks_that_take_turns_give_the_same(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    for name in ("colls", "p2p"):
        result = run(mpi_user, built(name), 5, "fibers", OPI_RANKS_SCHEDULER="rr")
        assert (result.code, result.out) == (0, "ok 5\n"), result.err


@pytest.mark.parametrize(("form", "kind"), [(1, "threads"), (2, "threads"), (2, "fibers")])
def test_extensions_and_private_globals(mpi_user: MpiUser, built: Built, form: int, kind: str) -> None:
    enough(mpi_user)
    for ranks in (1, 4, 7):
        result = run(mpi_user, built("extensions", f"-DPRIVATE={form}"), ranks, kind)
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), result.err


def test_fibers_refuse_globals_that_are_private_to_threads(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    result = run(mpi_user, built("extensions", "-DPRIVATE=1"), 2, "fibers")
    assert result.code == 1
    assert "fibers need --privatize=struct" in result.err


ENDS = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void last(void) { printf("last\\n"); }
int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    argv[1][0] += rank; /* each rank has arguments of its own */
    for (int i = 0; i < 200; i++) {
        printf("%s", argv[1]);
        putchar(' ');
        printf("%d", rank);
        puts("");
    }
    if (argc > 2 && strcmp(argv[2], "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (argc > 2 && strcmp(argv[2], "leave") == 0 && rank == 1)
        exit(4);
    if (argc > 2 && strcmp(argv[2], "error") == 0 && rank == 1)
        MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    if (argc > 2 && strcmp(argv[2], "file") == 0 && rank == 1)
        MPI_File_open(MPI_COMM_SELF, "f", MPI_MODE_RDONLY, MPI_INFO_NULL, 0);
    if (argc > 2 && strcmp(argv[2], "stuck") == 0 && rank != 1)
        MPI_Recv(&x, 1, MPI_INT, 1, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    atexit(last);
    if (rank == 2)
        exit(7);
    return rank == 3 ? 3 : 0;
}
"""


@pytest.mark.parametrize("kind", ["threads", "fibers"])
def test_ranks_end_one_by_one_and_their_lines_stay_whole(mpi_user: MpiUser, built: Built, kind: str) -> None:
    result = run(mpi_user, built(ENDS), 4, kind, "a")
    assert result.code == 7  # the highest
    lines = result.out.splitlines()
    assert sorted(lines) == sorted([f"{'abcd'[rank]} {rank}" for rank in range(4)] * 200 + ["last"] * 4)


@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("abort", 5, "rank 1: MPI_Abort with code 5"),
        ("leave", 4, "rank 1: ended with code 4 and without MPI_Finalize"),
        ("error", None, "rank 1: MPI_Send: MPI_ERR_RANK: rank 99 in a communicator of 4"),
        ("file", 1, "rank 1: MPI_File_open: not available with {kind} ranks"),
    ],
)
def test_what_ends_the_job(mpi_user: MpiUser, built: Built, kind: str, how: str, code: int | None, said: str) -> None:
    enough(mpi_user)
    result = run(
        mpi_user, built(ENDS.replace("MPI_INFO_NULL, 0)", "MPI_INFO_NULL, (MPI_File *)&x)")), 4, kind, "a", how
    )
    assert said.format(kind=kind[:-1]) in result.err
    assert result.code == code if code is not None else result.code != 0


def test_fibers_that_wait_for_ever_are_told(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    for scheduler in ("block", "rr"):
        result = run(mpi_user, built(ENDS), 3, "fibers", "a", "stuck", OPI_RANKS_SCHEDULER=scheduler)
        assert result.code == 1
        assert "deadlock: all 3 ranks that have not ended wait" in result.err
        assert "rank 0 waits in MPI_Recv for a message from rank 1 with tag 42" in result.err
        assert "rank 1 waits in MPI_Finalize for the other members" in result.err


DEEP = """#include <mpi.h>
static int deep(int n) { volatile char a[2000]; a[0] = (char)n; return n ? deep(n - 1) + a[0] : 0; }
int main(int argc, char **argv)
{
    int rank, n = 100000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2)
        deep(n);
    MPI_Finalize();
    return 0;
}
"""


def test_a_fiber_whose_stack_is_full_is_told(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    result = run(mpi_user, built(DEEP), 4, "fibers", OPI_RANKS_STACK="64k")
    assert result.code == 1
    assert "rank 2: its stack of 64 KiB is full; opirun --stack SIZE gives more" in result.err


MANY = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, size, x, in;
    long mine, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    x = rank == 3 ? 77 : 0;
    MPI_Bcast(&x, 1, MPI_INT, 3, MPI_COMM_WORLD);
    if (x != 77)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    mine = in;
    MPI_Reduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld\\n", sum);
    MPI_Finalize();
    return 0;
}
"""


def test_a_hundred_thousand_fibers(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    result = run(mpi_user, built(MANY), 100_000, "fibers", OPI_RANKS_STACK="32k")
    assert (result.code, result.out) == (0, f"{100_000 * 99_999 // 2}\n"), result.err


def known_missing() -> set[str]:
    one_sided = {"Accumulate", "Compare_and_swap", "Fetch_and_op", "Get", "Get_accumulate", "Put"}
    one_sided |= {"Raccumulate", "Rget", "Rget_accumulate", "Rput"}
    partitioned = {"Parrived", "Pready", "Pready_list", "Pready_range", "Precv_init", "Psend_init"}
    elsewhere = {"Close_port", "Comm_accept", "Comm_connect", "Comm_join", "Lookup_name", "Open_port", "Publish_name"}
    elsewhere |= {"Unpublish_name", "Comm_create_from_group", "Intercomm_create_from_groups", "Group_from_session_pset"}
    buffers = {f"Comm_{what}_buffer" for what in ("attach", "detach", "flush", "iflush")}
    buffers |= {"Buffer_flush", "Buffer_iflush"}
    return {f"MPI_{name}{c}" for name in one_sided | partitioned | elsewhere | buffers for c in ("", "_c")}


def test_every_function_of_mpi_h_is_there_and_what_is_missing_is_known(mpi_user: MpiUser, built: Built) -> None:
    done = subprocess.run(["nm", built(MANY)], capture_output=True, text=True, check=True)
    defined = {line.split()[-1] for line in done.stdout.splitlines() if " T " in line}
    functions = read_header(mpi_user.mpi.mpicc)
    assert set(functions) <= defined
    table, by_hand = read_ranks_table(), written(ranks_source_dir())
    missing = {name for name in functions if kind_of(name, table, by_hand) == "missing"}
    apart = ("MPI_File_", "MPI_Win_", "MPI_Session_", "MPIX_", "MPI_Comm_spawn", "MPI_Register", "MPI_Abi_set")
    assert {name for name in missing if not name.startswith(apart)} <= known_missing()


def test_opirun_starts_them(mpi_user: MpiUser, built: Built) -> None:
    program = built(MANY)
    for kind in ("--threads", "--fibers"):
        command = [sys.executable, "-m", "opi_xform.launch.opirun", "-n", "5", kind, str(program)]
        done = subprocess.run(
            command, env=mpi_user.environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr


def test_a_program_with_private_globals_gives_what_one_rank_gives(
    mpi_user: MpiUser, built: Built, opi_cache: Path, tmp_path: Path
) -> None:
    """The whole way: an unmodified program, its globals made private, ownership passed, on both carriers."""
    enough(mpi_user)
    sources = sorted((CHECKOUT / "testdata" / "halo2d").glob("*.c"))
    command = [sys.executable, "-c", "from opi_xform.cli.main import script; script()", "--privatize=struct", *sources]
    subprocess.run([*command, "-o", tmp_path], env=mpi_user.environment, capture_output=True, check=True, timeout=240)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPI_CACHE", str(opi_cache))
        flags = link_flags(ensure_ranks(mpi_user.mpi))
    program = tmp_path / "halo2d"
    include = f"-I{runtime_include_dir()}"
    mpi_user.mpicc("-O1", include, *sorted(tmp_path.glob("*.c")), *flags, "-lm", "-o", program)
    results = []
    for ranks, kind in ((1, "threads"), (6, "threads"), (16, "fibers")):
        result = run(mpi_user, program, ranks, kind, "40", "36", "20")
        assert result.code == 0, result.err
        assert "verification: PASSED" in result.out
        results.append(re.findall(r"^(?:peak|largest error|checksum).*", result.out, re.M))
    assert len(results[0]) == 3
    assert results[1:] == results[:1] * 2


def test_options_of_ranks() -> None:
    kinds = parse(["-n", "4", "--fibers", "--stack", "64k", "--scheduler", "rr", "--", "app"])
    assert kinds.carrier == Carrier("fibers", "64k", "rr")
    assert (kinds.launcher, kinds.program) == (("-n", "4"), ("app",))
    for wrong in (["--threads", "--fibers"], ["--threads", "--scheduler", "rr"], ["--fibers", "--stack", "much"]):
        with pytest.raises(LaunchError):
            parse(["-n", "4", *wrong, "--", "app"])
