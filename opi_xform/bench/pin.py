"""Runs a program on one CPU, chosen by the rank's number on its node: ``python pin.py 0,1 ./program``.

The launchers bind in ways of their own; this makes every series run on the same cores.
"""

from __future__ import annotations

import os
import sys

LOCAL_RANK = ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_LOCALID")


def main() -> None:
    """Binds this process and becomes the program."""
    cpus = [int(cpu) for cpu in sys.argv[1].split(",")]
    rank = next((int(os.environ[name]) for name in LOCAL_RANK if name in os.environ), 0)
    os.sched_setaffinity(0, {cpus[rank % len(cpus)]})
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
