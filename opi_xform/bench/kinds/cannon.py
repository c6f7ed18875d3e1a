"""The benchmark `cannon`: the same product of two matrices on more and more fibers (Kamal, fine-grain MPI, 4.1.4).

testdata's Cannon, unmodified and through opi-xform --privatize: with more ranks each has smaller blocks, which fit into
a smaller cache, and more messages go round. Times are processor time of the process that carries all fibers, from its
start to its end, so that other programs of the machine count little; filling and checking the matrices is part of it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from opi_xform.bench.result import Result, Row
from opi_xform.bench.rounds import FLAGS, machine_line
from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.ranks import Carrier, ensure_ranks, link_flags
from opi_xform.launch.tools import XFORM, c_sources, checked, compile_with, environment
from opi_xform.resources import resource, runtime_include_dir

EDGES = (1, 2, 4, 8, 16, 32)
QUICK_EDGES = (1, 2, 4)
ORDER, QUICK_ORDER = 1024, 96
ROUNDS = 3


def build(mpi: Mpi, work: Path) -> Path:
    """The program for fibers. Raises LaunchError."""
    source = resource("testdata", "proxies", "cannon")
    checked([*XFORM, *c_sources(source), "--privatize=struct", "-o", str(work / "private")], mpi)
    flags = [f"-I{runtime_include_dir()}", *FLAGS, *link_flags(ensure_ranks(mpi))]
    return compile_with([str(mpi.mpicc)], c_sources(work / "private"), work / "cannon", mpi, flags)


def measure(program: Path, mpi: Mpi, ranks: int, order: int) -> float:
    """Microseconds of processor time of one product. Raises LaunchError when it is wrong."""
    told = {**environment(mpi), **Carrier("fibers").environment(ranks)}
    command = [str(program), str(order), "1"]
    with subprocess.Popen(command, env=told, stdout=subprocess.PIPE, text=True) as process:
        out = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or not out.endswith("verification: PASSED\n"):
        raise LaunchError(f"cannon: {ranks} ranks: the product is wrong or the run was cut short:\n{out[-2000:]}", 1)
    return (used.ru_utime + used.ru_stime) * 1e6


def run(mpis: Sequence[Mpi], quick: bool, work: Path, say: Callable[[str], None]) -> Result:
    """Builds and runs the benchmark with the first MPI: it has no part in what is measured. Raises LaunchError."""
    mpi = mpis[0]
    program = build(mpi, work)
    order, edges, rounds = (QUICK_ORDER, QUICK_EDGES, 1) if quick else (ORDER, EDGES, ROUNDS)
    times: dict[int, list[float]] = {edge: [] for edge in edges}
    for number in range(rounds):
        say(f"cannon: round {number + 1} of {rounds}")
        for edge in edges:
            times[edge].append(measure(program, mpi, edge * edge, order))
    one = statistics.median(times[1])
    rows = [
        Row("fibers", mpi.kind, edge * edge, 8 * (order // edge) ** 2, statistics.median(us), rounds, None,
            statistics.median(us) / one, f"{edge * edge} ranks, blocks of")
        for edge, us in times.items()
    ]  # fmt: skip
    return Result("cannon", f"product of matrices of order {order}", machine_line(mpis), tuple(rows))
