"""Runs the tool and the compilers as a user would: for the demo and the benchmarks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi

XFORM = (sys.executable, "-c", "from opi_xform.cli.main import script; script()")
"""The opi-xform command of this environment."""
OPICC = (sys.executable, "-m", "opi_xform.launch.opicc")
"""The opicc command of this environment."""


def environment(mpi: Mpi, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which opi-xform, opicc and the launcher use ``mpi``."""
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    return {**allowed, **os.environ, "OPI_MPICC": str(mpi.mpicc), **(extra or {})}


def captured(
    command: Sequence[str],
    mpi: Mpi,
    *,
    cwd: Path | None = None,
    timeout_s: float = 300,
    extra: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command and keeps its output; ``extra`` adds to its environment. Raises LaunchError when it does not end
    in time."""
    try:
        full = environment(mpi, extra)
        return subprocess.run(
            command,
            env=full,
            cwd=cwd,
            timeout=timeout_s,
            capture_output=True,
            text=True,
            errors="replace",  # programs print what they like
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LaunchError(f"{' '.join(command)}: no end after {timeout_s:g} s", 1) from error


def checked(command: Sequence[str], mpi: Mpi, *, timeout_s: float = 300) -> str:
    """The stdout of a command that must succeed. Raises LaunchError with the command and what it said."""
    done = captured(command, mpi, timeout_s=timeout_s)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-4000:]
        raise LaunchError(f"{' '.join(command)}: exit code {done.returncode}\n{said}", 1)
    return done.stdout


def c_sources(directory: Path) -> list[str]:
    """The C files of a directory, sorted."""
    return sorted(map(str, directory.glob("*.c")))


def compile_with(compiler: Iterable[str], sources: Sequence[str], output: Path, mpi: Mpi, flags: Sequence[str]) -> Path:
    """Builds an executable; returns its path. Raises LaunchError with the compiler's message."""
    checked([*compiler, *flags, *sources, "-o", str(output), "-lm"], mpi)
    return output
