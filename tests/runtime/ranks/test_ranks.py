"""Thread and fiber ranks: the programs of runtime/tests/ranks on both carriers, the launcher, what ends a job."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CHECKOUT, MPIS, MpiUser, Run, in_turn

from opi_xform.bindings.header import read_header
from opi_xform.bindings.ranks import kind_of, ranks_source_dir, read_ranks_table, written
from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.opirun import parse
from opi_xform.launch.ranks import Carrier, Shape, ensure_ranks, link_flags, shape_of
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


def run(
    user: MpiUser, program: Path, ranks: int, kind: str, *arguments: str, processes: int = 1, **environment: str
) -> Run:
    """The program by itself: each process starts its ranks; opirun only sets the variables."""
    told = {"OPI_RANKS": str(ranks), "OPI_RANKS_CARRIER": kind, **environment}
    if processes > 1:
        return user.run(processes, program, *arguments, check=False, **told)
    told = {**user.environment, **told}
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
@pytest.mark.parametrize(
    "name",
    ["colls", "colls_large", "comms", "edges", "inbox", "messages", "objects", "p2p", "streams", "types", "unslowed"],
)
def test_every_call_gives_what_was_computed_directly(mpi_user: MpiUser, built: Built, name: str, kind: str) -> None:
    if name == "colls_large" and mpi_user.mpi.kind != "mpich":
        pytest.skip("this MPI has no forms with large counts")
    for ranks in sizes(mpi_user):
        result = run(mpi_user, built(name), ranks, kind)
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), (ranks, result.err)


def split(user: MpiUser) -> tuple[tuple[int, dict[str, str]], ...]:
    """Ranks, and the numbers of them that processes have."""
    if user.mpi.kind != "mpich":
        return ((5, {"processes": "2"}),)
    return ((4, {"processes": "2"}), (7, {"processes": "3", "OPI_RANKS_PER_PROCESS": "1,4,2", "OPI_RANKS_EAGER": "0"}))


@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize(
    "name", ["apart", "colls", "comms", "edges", "inbox", "messages", "objects", "p2p", "streams", "unslowed"]
)
def test_every_call_does_so_in_several_processes(mpi_user: MpiUser, built: Built, name: str, kind: str) -> None:
    for ranks, how in split(mpi_user):
        processes, more = int(how["processes"]), {key: how[key] for key in how if key != "processes"}
        result = run(mpi_user, built(name), ranks, kind, processes=processes, **more)
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), (ranks, result.err)


def test_an_element_of_two_gib_goes_to_another_process(mpi_user: MpiUser, built: Built) -> None:
    if os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 10 << 30:
        pytest.skip("it takes 7 GiB of memory")
    result = run(mpi_user, built("edges"), 2, "threads", "large", processes=2)
    assert (result.code, result.out) == (0, "ok 2\n"), result.err


@pytest.mark.parametrize(("form", "kind"), [(1, "threads"), (2, "threads"), (2, "fibers")])
def test_operations_find_the_globals_of_a_member(mpi_user: MpiUser, built: Built, form: int, kind: str) -> None:
    """Whoever does a collective, an operation of the program's own reads what a member of the communicator has set."""
    for ranks, how in ((5, {}), *split(mpi_user), (10, {"processes": "2"})):
        processes, more = int(how.get("processes", "1")), {key: how[key] for key in how if key != "processes"}
        result = run(mpi_user, built("ops", f"-DPRIVATE={form}"), ranks, kind, processes=processes, **more)
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), (ranks, result.err)


def test_tests_in_vain_seldom_give_the_processor_away(mpi_user: MpiUser, built: Built) -> None:
    """A loop of them ends soon, too, on a machine where others compute."""
    enough(mpi_user)
    for ranks in (1, (os.cpu_count() or 1) + 2):
        result = run(mpi_user, built("vain"), ranks, "threads")
        assert (result.code, result.out) == (0, f"ok {ranks}\n"), result.err


def test_ranks_that_take_turns_give_the_same(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    for name in ("colls", "p2p"):
        result = run(mpi_user, built(name), 5, "fibers", OPI_RANKS_SCHEDULER="rr")
        assert (result.code, result.out) == (0, "ok 5\n"), result.err


@pytest.mark.parametrize(("form", "kind"), [(1, "threads"), (2, "threads"), (2, "fibers")])
def test_extensions_and_private_globals(mpi_user: MpiUser, built: Built, form: int, kind: str) -> None:
    enough(mpi_user)
    for ranks, processes in ((1, 1), (4, 1), (7, 1), (7, 2)):
        result = run(mpi_user, built("extensions", f"-DPRIVATE={form}"), ranks, kind, processes=processes)
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


@pytest.mark.parametrize(("kind", "processes"), [("threads", 1), ("fibers", 1), ("threads", 2), ("fibers", 2)])
def test_ranks_end_one_by_one_and_their_lines_stay_whole(
    mpi_user: MpiUser, built: Built, kind: str, processes: int
) -> None:
    result = run(mpi_user, built(ENDS), 4, kind, "a", processes=processes)
    assert result.code == 7  # the highest
    lines = result.out.splitlines()
    assert sorted(lines) == sorted([f"{'abcd'[rank]} {rank}" for rank in range(4)] * 200 + ["last"] * 4)


@pytest.mark.parametrize(("kind", "processes"), [("threads", 1), ("fibers", 1), ("threads", 2), ("fibers", 2)])
@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("abort", 5, "rank 1: MPI_Abort with code 5"),
        ("leave", 4, "rank 1: ended with code 4 and without MPI_Finalize"),
        ("error", None, "rank 1: MPI_Send: MPI_ERR_RANK: rank 99 in a communicator of 4"),
        ("file", 1, "rank 1: MPI_File_open: not available with {kind} ranks"),
    ],
)
def test_what_ends_the_job(
    mpi_user: MpiUser, built: Built, kind: str, processes: int, how: str, code: int | None, said: str
) -> None:
    enough(mpi_user)
    program = built(ENDS.replace("MPI_INFO_NULL, 0)", "MPI_INFO_NULL, (MPI_File *)&x)"))
    result = run(mpi_user, program, 4, kind, "a", how, processes=processes)
    assert said.format(kind=kind[:-1]) in result.err
    assert result.code == code if code is not None else result.code != 0


def test_ranks_that_wait_for_ever_are_told(mpi_user: MpiUser, built: Built) -> None:
    enough(mpi_user)
    for kind, scheduler in (("fibers", "block"), ("fibers", "rr"), ("threads", "block")):
        result = run(mpi_user, built(ENDS), 3, kind, "a", "stuck", OPI_RANKS_SCHEDULER=scheduler)
        assert result.code == 1
        assert "deadlock: all 3 ranks that have not ended wait" in result.err
        assert "rank 0 waits in MPI_Recv for a message from rank 1 with tag 42" in result.err
        assert "rank 1 waits in MPI_Finalize for the other members" in result.err


@pytest.mark.parametrize("kind", ["threads", "fibers"])
@pytest.mark.parametrize("processes", [2, 3])
def test_ranks_of_several_processes_that_wait_for_ever_are_told(
    mpi_user: MpiUser, built: Built, kind: str, processes: int
) -> None:
    result = run(mpi_user, built(ENDS), 4, kind, "a", "stuck", processes=processes)
    assert result.code == 1
    assert "deadlock: all 4 ranks that have not ended wait" in result.err
    for rank in (0, 2, 3):
        assert f"rank {rank} waits in MPI_Recv for a message from rank 1 with tag 42" in result.err
    assert "rank 1 waits in MPI_Finalize for the other members" in result.err


SLOW = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#define N 300000
static void take_time(int how)
{
    double end = MPI_Wtime() + 0.7;
    int flag;
    while (MPI_Wtime() < end)
        if (how == 0)
            usleep(100000);
        else if (how == 1)
            MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
    int rank, size, x = 0, *data = malloc(N * sizeof *data);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++)
        data[i] = rank;
    for (int how = 0; how < 3; how++) { /* it sleeps, looks again and again, computes; all others wait */
        int one = how % 2 ? size - 1 : 0, other = size - 1 - one;
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank == one)
            take_time(how);
        MPI_Bcast(&x, 1, MPI_INT, one, MPI_COMM_WORLD);
        if (rank == other)
            MPI_Issend(data, N, MPI_INT, one, 1, MPI_COMM_WORLD, &request);
        if (rank == one) {
            take_time(how);
            MPI_Recv(data, N, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            x += data[N - 1] != other;
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("wrong %d\\n", x);
    free(data);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(("kind", "processes"), [("threads", 1), ("threads", 2), ("threads", 3), ("fibers", 2)])
def test_who_is_slow_is_not_taken_for_one_that_waits(
    mpi_user: MpiUser, built: Built, kind: str, processes: int
) -> None:
    in_turn(mpi_user, processes)
    result = run(mpi_user, built(SLOW), 4, kind, processes=processes)
    assert (result.code, result.out) == (0, "wrong 0\n"), result.err
    assert "deadlock" not in result.err


WRONG = """#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, x = 0, how = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (how == 0 && rank >= 2)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Bcast(&x, 1, MPI_INT, how == 1 && rank >= 2, MPI_COMM_WORLD);
    if (how == 2)
        MPI_Allreduce(MPI_IN_PLACE, argv[0], rank < 2 ? 1 : 2, MPI_SHORT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "said"), [("0", "collectives do not match"), ("1", "different roots"), ("2", "MPI_ERR_TRUNCATE")]
)
def test_collectives_of_processes_that_do_not_match(mpi_user: MpiUser, built: Built, how: str, said: str) -> None:
    enough(mpi_user)
    for processes in (1, 2):
        result = run(mpi_user, built(WRONG), 4, "fibers", how, processes=processes)
        assert result.code != 0
        assert said in result.err


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
    for ranks, processes in ((100_000, 1), (20_000, 2)):
        result = run(mpi_user, built(MANY), ranks, "fibers", OPI_RANKS_STACK="32k", processes=processes)
        assert (result.code, result.out) == (0, f"{ranks * (ranks - 1) // 2}\n"), result.err


def known_missing() -> set[str]:
    partitioned = {"Parrived", "Pready", "Pready_list", "Pready_range", "Precv_init", "Psend_init"}
    elsewhere = {"Close_port", "Comm_accept", "Comm_connect", "Comm_join", "Lookup_name", "Open_port", "Publish_name"}
    elsewhere |= {"Unpublish_name", "Group_from_session_pset"}
    buffers = {f"Comm_{what}_buffer" for what in ("attach", "detach", "flush", "iflush")}
    buffers |= {"Buffer_flush", "Buffer_iflush"}
    return {f"MPI_{name}{c}" for name in partitioned | elsewhere | buffers for c in ("", "_c")}


def test_every_function_of_mpi_h_is_there_and_what_is_missing_is_known(mpi_user: MpiUser, built: Built) -> None:
    done = subprocess.run(["nm", built(MANY)], capture_output=True, text=True, check=True)
    defined = {line.split()[-1] for line in done.stdout.splitlines() if " W " in line}
    functions = read_header(mpi_user.mpi.mpicc)
    assert set(functions) <= defined
    table, by_hand = read_ranks_table(), written(ranks_source_dir())
    missing = {name for name in functions if kind_of(name, table, by_hand) == "missing"}
    apart = ("MPI_File_", "MPI_Session_", "MPIX_", "MPI_Comm_spawn", "MPI_Register", "MPI_Abi_set")
    assert {name for name in missing if not name.startswith(apart)} <= known_missing()


def test_opirun_starts_them(mpi_user: MpiUser, built: Built) -> None:
    program = built(MANY)
    for options in (
        ("-n", "5", "--threads"),
        ("-n", "5", "--fibers"),
        ("-n", "5", "--threads", "-p", "2"),
        ("--fibers", "--per-process", "3,2"),
    ):
        command = [sys.executable, "-m", "opi_xform.launch.opirun", *options, str(program)]
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
    for ranks, kind, processes in (
        (1, "threads", 1),
        (6, "threads", 1),
        (16, "fibers", 1),
        (6, "threads", 2),
        (16, "fibers", 3),
    ):
        result = run(mpi_user, program, ranks, kind, "40", "36", "20", processes=processes)
        assert result.code == 0, result.err
        assert "verification: PASSED" in result.out
        results.append(re.findall(r"^(?:peak|largest error|checksum).*", result.out, re.M))
    assert len(results[0]) == 3
    assert results[1:] == results[:1] * 4


def test_options_of_ranks() -> None:
    kinds = parse(["-n", "4", "--fibers", "--stack", "64k", "--scheduler", "rr", "--", "app"])
    assert kinds.carrier == Carrier("fibers", "64k", "rr")
    assert (kinds.launcher, kinds.program) == (("-n", "4"), ("app",))
    unequal = parse(["--threads", "--per-process", "3,5,2", "--", "app"])
    assert unequal.carrier == Carrier("threads", per_process=(3, 5, 2))
    for wrong in (
        ["--threads", "--fibers"],
        ["--threads", "--scheduler", "rr"],
        ["--fibers", "--stack", "much"],
        ["--fibers", "--per-process", "3,0"],
    ):
        with pytest.raises(LaunchError):
            parse(["-n", "4", *wrong, "--", "app"])


def test_how_many_processes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    threads, fibers = Carrier("threads"), Carrier("fibers")
    assert shape_of(["-n", "9", "-x"], threads, {}) == (Shape(9, 1, None, True), ["-x"])
    assert shape_of(["-n", "9"], fibers, {})[0] == Shape(9, 4, None, True)
    assert shape_of(["-n", "3"], fibers, {})[0] == Shape(3, 3, None, True)
    assert shape_of(["-n", "9", "-p", "2"], fibers, {})[0] == Shape(9, 2, None, True)
    assert shape_of([], Carrier("threads", per_process=(3, 2)), {})[0] == Shape(5, 2, None, True)
    hosts = tmp_path / "hosts"
    hosts.write_text("# nodes\na slots=4\nb:2\na\n")
    assert shape_of(["-n", "9", "-f", str(hosts)], threads, {})[0] == Shape(9, 2, 1, False)
    assert shape_of(["-n", "9", "--host", "a:4,b:4,c"], fibers, {})[0] == Shape(9, 9, 4, False)
    assert shape_of(["-n", "9"], threads, {"SLURM_NNODES": "3"})[0] == Shape(9, 3, 1, False)
    for words in (["-n", "2", "-p", "3"], ["-n", "x"], ["-n", "2", "-f", str(tmp_path / "none")]):
        with pytest.raises(LaunchError):
            shape_of(words, threads, {})
    with pytest.raises(LaunchError):
        shape_of(["-n", "4"], Carrier("threads", per_process=(3, 2)), {})
