"""``make onesided ONESIDED_ARGS='--seeds 2000'``: random one-sided programs (onesided.c), judged by a model of legal
outcomes, with libopi under each MPI: processes, on one node and on pretended ones, threads and fibers.

Prints each block of seeds that failed; the same seed and number of ranks draw the same program again. ``--plain`` runs
the programs without libopi: what the MPI itself does.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi
from opi_xform.launch.ranks import Carrier, job
from opi_xform.launch.tools import OPICC, compile_with
from tests.machines.torture.run import mpis
from tests.mpi4py_suite.run import WAITING

SOURCE = Path(__file__).with_name("onesided.c")
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
ALL_KINDS = 0b11111
"""A bit for each of `enum flavor` in plan.h."""
NOT_SHARED = 0b10111
"""On pretended nodes there is no memory that all ranks share."""
ALLOCATED = 0b01100
"""Of plain Open MPI 5.0.11, windows over memory of the program leave 0 after MPI_BXOR and compare unsigned numbers as
signed ones (`osc/rdma`); those that it allocates itself do not."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Ranks, what they are, and what stands in their environment."""

    ranks: int
    carrier: str = "processes"
    environment: tuple[tuple[str, str], ...] = ()
    kinds: int = ALL_KINDS
    openmpi_kinds: int | None = None
    """Those under Open MPI, where they are fewer."""
    per_process: tuple[int, ...] = ()
    """Of threads and fibers: how many ranks each process has; one process where it is empty."""

    def __str__(self) -> str:
        words = (f"{name}={value}" for name, value in self.environment)
        divided = [f"in processes of {','.join(map(str, self.per_process))}"] if self.per_process else []
        return " ".join([f"{self.ranks} {self.carrier}", *divided, *words])


SETTINGS = (
    Setting(2),
    Setting(3),
    Setting(4),
    Setting(3, "threads"),
    Setting(4, "fibers"),
    Setting(4, "threads", per_process=(2, 2)),
    Setting(4, "threads", per_process=(1, 3)),
    Setting(4, "fibers", per_process=(3, 1)),
    Setting(3, "fibers", per_process=(1, 1, 1)),
    Setting(2, environment=(("OPI_NODE_RANKS", "1"),), kinds=NOT_SHARED, openmpi_kinds=ALLOCATED & NOT_SHARED),
    Setting(4, environment=(("OPI_NODE_RANKS", "2"),), kinds=NOT_SHARED, openmpi_kinds=ALLOCATED & NOT_SHARED),
    Setting(3, environment=(("OPI_KERNEL_COPY", "0"),), openmpi_kinds=ALLOCATED),
    Setting(3, environment=(("OPI_SPIN", "0"), ("OPI_YIELD", "0"))),
)
"""On pretended nodes, what accumulates in windows over memory of the program is the MPI's, and without copies by the
kernel all of them are: under Open MPI they are left out, as in ``plain_settings``."""


def plain_settings(mpi: Mpi) -> tuple[Setting, ...]:
    """Without libopi."""
    kinds = ALLOCATED if mpi.kind == "openmpi" else ALL_KINDS
    return tuple(Setting(ranks, kinds=kinds) for ranks in (2, 3))


def build(mpi: Mpi, folder: Path, form: str) -> Path:
    """`plain`, `libopi` or `ranks`. Raises LaunchError."""
    compilers: dict[str, Sequence[str]] = {
        "plain": (str(mpi.mpicc),),
        "libopi": OPICC,
        "ranks": (*OPICC, "--ranks", "--no-warn-shared"),
    }
    return compile_with(compilers[form], [str(SOURCE)], folder / f"{mpi.kind}-{form}", mpi, FLAGS)


def command(mpi: Mpi, program: Path, where: Setting, first: int, seeds: int) -> list[str]:
    """One block of seeds."""
    kinds = where.openmpi_kinds if mpi.kind == "openmpi" and where.openmpi_kinds is not None else where.kinds
    arguments = [str(seeds), str(first), str(kinds)]
    if where.carrier == "processes":
        return [*mpi.run_command(where.ranks), str(program), *arguments]
    options = ["-n", str(where.ranks), "-p", str(len(where.per_process) or 1)]
    carrier = Carrier(where.carrier, None, per_process=where.per_process)
    return job(mpi, options, [str(program), *arguments], carrier)


def run(words: Sequence[str], where: Setting, limit_s: float) -> str:
    """'' or what went wrong. Where the MPI waits, and not libopi, processes let others run."""
    crowded = where.carrier == "processes" and where.ranks >= (os.cpu_count() or 1)
    with subprocess.Popen(
        words,
        env={**os.environ, **(WAITING if crowded else {}), **dict(where.environment)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as started:
        try:
            out, _ = started.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            out, _ = started.communicate()
            return f"no end after {limit_s:g} s\n{out[-2000:]}"
    if started.returncode == 0 and "onesided: ok, 0 failures" in out:
        return ""
    return f"exit code {started.returncode}\n{out[:3000]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=500, help="programs over all settings and MPIs")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--block", type=int, default=25, help="programs per job")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a job may take")
    parser.add_argument("--plain", action="store_true", help="without libopi")
    arguments = parser.parse_args()
    failed = done = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder, turns = Path(scratch), []
        for mpi in mpis():
            forms = ("plain",) if arguments.plain else ("libopi", "ranks")
            built = {form: build(mpi, folder, form) for form in forms}
            for where in plain_settings(mpi) if arguments.plain else SETTINGS:
                form = "plain" if arguments.plain else "libopi" if where.carrier == "processes" else "ranks"
                turns.append((mpi, built[form], where))
        while done < arguments.seeds:
            mpi, program, where = turns[done // arguments.block % len(turns)]
            seeds = min(arguments.block, arguments.seeds - done)
            words = command(mpi, program, where, arguments.first + done, seeds)
            if problem := run(words, where, arguments.limit):
                failed += 1
                print(f"{mpi.kind}, {where}, {seeds} seeds from {arguments.first + done}: {problem}", flush=True)
            done += seeds
    print(f"{done} seeds, {len(turns)} settings, {time.monotonic() - begin:.0f} s: {failed} blocks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LaunchError as problem:
        sys.exit(f"onesided: {problem}")
