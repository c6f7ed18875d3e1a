"""The benchmarks that are C programs of this package (bench/sources): which builds of each, and how they are run."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opi_xform.bench.machine import cores_apart
from opi_xform.bench.result import Result
from opi_xform.bench.rounds import FLAGS, PIN, Series, machine_line, pinned, rows, run_rounds
from opi_xform.launch.mpi import Mpi
from opi_xform.launch.ranks import Carrier
from opi_xform.launch.tools import OPICC, compile_with

SOURCES = Path(__file__).with_name("sources")
MiB = 1 << 20


@dataclass(frozen=True, slots=True)
class Build:
    """How a series is made of a program's source."""

    series: str
    """Its name; empty: that of the MPI."""
    ours: bool
    """Linked with libopi."""
    defines: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    """`NAME=value` for the ranks."""
    alone: bool = False
    """One process, no launcher and no MPI (it starts the other ranks itself)."""
    carrier: str = ""
    """`fibers` or `threads`: of one process, linked with libopi_ranks."""


PLAIN = Build("", ours=False)
BARE = Build("bare", ours=False, defines=("-DBENCH_BARE",), alone=True)
LIBOPI = Build("libopi", ours=True)
HEAP = Build("libopi-heap", ours=True, defines=("-DBENCH_ALLOC_MEM",))
MALLOC = Build("bare", ours=False, defines=("-DBENCH_MALLOC",))
"""The limit of `alloc`: the C library's own."""
FIBERS = Build("libopi-fibers", ours=True, defines=("-DBENCH_FIBERS",), carrier="fibers")
"""On one processor, so that ranks which wait take it from nobody."""
OPI = Build("opi", ours=True, defines=("-DBENCH_OPI",))
MESSAGES = Build("libopi-p2p", ours=True, defines=("-DBENCH_MESSAGES",))
"""A collective made of the program's own messages."""
ACROSS = Build("libopi", ours=True, environment=("OPI_NODE_RANKS=1",))
OPI_ACROSS = Build("opi", ours=True, defines=("-DBENCH_OPI",), environment=("OPI_NODE_RANKS=1",))
"""Every rank a node of its own: the MPI below carries the messages."""
SPANNING = ("OMPI_MCA_osc=rdma",)
"""What Open MPI would choose for windows over several nodes without better networks; here all ranks are on one."""
PLAIN_SPANNING = Build("", ours=False, environment=SPANNING)
LIBOPI_SPANNING = Build("libopi", ours=True, environment=("OPI_NODE_RANKS=2", *SPANNING))
HEAP_SPANNING = Build(
    "libopi-heap", ours=True, defines=("-DBENCH_ALLOC_MEM",), environment=("OPI_NODE_RANKS=2", *SPANNING)
)


@dataclass(frozen=True, slots=True)
class Program:
    """One benchmark."""

    name: str
    """Also what its output lines begin with."""
    source: str
    what: str
    """What the times are, for headings."""
    full: tuple[int, ...]
    """Samples and largest size."""
    quick: tuple[int, ...]
    ranks: int = 2
    rounds: int = 5
    builds: tuple[Build, ...] = (PLAIN, BARE, LIBOPI, HEAP, OPI)
    defines: tuple[str, ...] = field(default=())
    same_mpi: bool = False
    """Ratios are to the MPI below, not to the better one."""


def _many() -> int:
    """Ranks of many-to-one: as many as there are CPUs, 3 to 8."""
    return max(3, min(8, len(os.sched_getaffinity(0))))


TABLE = (
    Program("latency", "latency", "write + send + receive + read", (400, 4 * MiB), (30, 1 << 16)),
    Program("rate", "rate", "message, 64 under way", (200, 32768), (20, 2048)),
    Program(
        "nodes",
        "latency",
        "write + send + receive + read across (pretended) nodes",
        (400, 4 * MiB),
        (30, 1 << 16),
        rounds=9,
        builds=(PLAIN, ACROSS, OPI_ACROSS),
        defines=("-DBENCH_NODES",),
        same_mpi=True,
    ),
    Program("bidirectional", "bidirectional", "exchange both ways at once", (400, 4 * MiB), (30, 1 << 16)),
    Program(
        "alltoall",
        "alltoall",
        "exchange of all ranks with all, of so many bytes a pair",
        (200, 4 * MiB),
        (20, 4096),
        builds=(PLAIN, LIBOPI, HEAP, MESSAGES),
    ),
    Program(
        "manytoone",
        "manytoone",
        "message at the receiver of all others",
        (60, 32768),
        (10, 512),
        ranks=_many(),
        builds=(PLAIN, LIBOPI, HEAP, OPI),
    ),
    Program(
        "wildcard",
        "rate",
        "message, 64 under way, received from any source with any tag",
        (200, 32768),
        (20, 2048),
        builds=(PLAIN, LIBOPI, HEAP, OPI),
        defines=("-DBENCH_WILDCARD",),
    ),
    Program(
        "deepqueue",
        "deepqueue",
        "message of 8 bytes, of DEPTH in the queue",
        (50, 4096),
        (10, 512),
        builds=(PLAIN, LIBOPI),
    ),
    Program(
        "types",
        "types",
        "write + send + receive + read of data with gaps",
        (200, MiB),
        (20, 4096),
        builds=(PLAIN, LIBOPI, HEAP),
    ),
    Program(
        "alloc",
        "alloc",
        "allocation + release",
        (300, 8 * MiB),
        (50, 8192),
        ranks=1,
        builds=(PLAIN, MALLOC, LIBOPI, OPI),
    ),
    Program(
        "onesided",
        "onesided",
        "epoch with one put or get, at the origin",
        (200, 4 * MiB),
        (10, 2048),
        builds=(PLAIN, BARE, LIBOPI),
    ),
    Program(
        "onesided-nodes",
        "onesided",
        "epoch with one operation, at the origin, in a window that spans (pretended) nodes",
        (200, MiB),
        (10, 2048),
        ranks=3,
        builds=(PLAIN_SPANNING, LIBOPI_SPANNING, HEAP_SPANNING),
        defines=("-DBENCH_NODES",),
        same_mpi=True,
    ),
    Program(
        "skew",
        "onesided",
        "epoch with 16 puts, at the origin, the target computing",
        (5, 1 << 18),
        (2, 4096),
        builds=(PLAIN, BARE, LIBOPI),
        defines=("-DBENCH_SKEW",),
    ),
    Program("init", "init", "start or end of MPI", (), (), rounds=11, builds=(PLAIN, LIBOPI)),
)


def build(program: Program, mpis: Sequence[Mpi], quick: bool, work: Path, flags: Sequence[str] = FLAGS) -> list[Series]:
    """Compiles every series of a program. Raises LaunchError."""
    cpus = cores_apart(program.ranks)
    arguments = tuple(map(str, program.quick if quick else program.full))
    source = [str(SOURCES / f"{program.source}.c")]
    made: list[Series] = []
    for one in program.builds:
        # The limit does not depend on the MPI, nor do ranks of one process; once is enough.
        for mpi in mpis[:1] if one.series == "bare" or one.carrier else mpis:
            compiler = (*OPICC, *(("--ranks",) if one.carrier else ())) if one.ours else (str(mpi.mpicc),)
            name = one.series or mpi.kind
            target = work / f"{mpi.kind}-{name}"
            if not target.exists():  # with other ranks it is the same program
                compile_with(compiler, source, target, mpi, (*flags, *program.defines, *one.defines))
            if one.alone:
                made.append(Series(name, None, (str(target), *arguments, *map(str, cpus))))
            elif one.carrier:
                told = [f"{name}={value}" for name, value in Carrier(one.carrier).environment(program.ranks).items()]
                command = ("env", *told, *PIN, str(cpus[0]), str(target), *arguments)
                made.append(Series(name, mpi, command))
            else:
                shown = None if one.series == "bare" else mpi
                command = pinned(mpi, program.ranks, target, cpus, arguments)
                made.append(Series(name, shown, (*(("env", *one.environment) if one.environment else ()), *command)))
    return made


def crowded(ranks: int) -> str:
    """A word where ranks share processors."""
    return " on fewer CPUs" if ranks > len(set(cores_apart(ranks))) else ""


def run(program: Program, mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs one benchmark in the directory ``work``. Raises LaunchError."""
    if word := crowded(program.ranks):
        say(f"{program.name}: {program.ranks} ranks{word}")
    series = build(program, mpis, quick, work)
    times = run_rounds(program.name, series, 1 if quick else program.rounds, mpis[0], say)
    return Result(
        program.name,
        program.what,
        machine_line(mpis),
        tuple(rows(series, times, program.ranks, program.same_mpi)),
        program.same_mpi,
    )
