"""Finds the user's MPI: its compiler wrapper, its header, its launcher, and which implementation it is.

Works with any wrapper that behaves like a C compiler (`mpicc`, Cray's `cc`, `mpiicc`): nothing depends on `-show`, what
is needed is read from a preprocessor run over ``#include <mpi.h>``.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from opi_xform.record import dataclass


class LaunchError(Exception):
    """What the user has to know, in one line; the commands print it and exit with ``code``."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Mpi:
    """One MPI installation."""

    mpicc: Path
    """The compiler wrapper, absolute; symbolic links are kept, wrappers look at their own name."""
    kind: str
    """`mpich`, `openmpi`, `mpi_abi` (a header of MPI's own binary interface, for every MPI that has it), or `mpi` where
    the header is of none of these."""
    version: str
    """As the header gives it, e.g. `5.0.2`."""
    header: Path
    """The mpi.h that the wrapper compiles with."""

    @property
    def mpiexec(self) -> Path:
        """The launcher that belongs to this MPI. Raises LaunchError when there is none."""
        for name in ("mpiexec", "mpirun"):
            beside = self.mpicc.parent / name
            if os.access(beside, os.X_OK):
                return beside
        found = shutil.which("mpiexec") or shutil.which("mpirun")
        if found is None:
            raise LaunchError(f"no mpiexec next to {self.mpicc} nor on PATH")
        return Path(found)

    def run_command(self, ranks: int) -> tuple[str, ...]:
        """The launcher and its arguments, ready for a program's name: any number of ranks on this machine, unbound."""
        command = (str(self.mpiexec), "-n", str(ranks))
        if self.kind == "openmpi":
            return (*command, "--oversubscribe", "--bind-to", "none")
        return command


_WANTED = "it names the mpicc of your MPI"


def find_mpicc() -> Path:
    """The user's mpicc: ``$OPI_MPICC``, else the one beside the running Python, else the one on PATH.

    Raises LaunchError saying what to install or set.
    """
    named = os.environ.get("OPI_MPICC")
    if named:
        found = shutil.which(named)
        if found is None:
            what = "not an executable file" if os.path.exists(named) else "no such command"
            raise LaunchError(f"OPI_MPICC={named}: {what}; {_WANTED}")
        if os.path.basename(found) in ("opicc", "opicxx", "opirun"):
            raise LaunchError(f"OPI_MPICC={named}: this runs the MPI's compiler itself; {_WANTED}")
        return Path(found).absolute()
    near = Path(sys.prefix) / "bin" / "mpicc"
    if os.access(near, os.X_OK):
        return near
    found = shutil.which("mpicc")
    if found is None:
        raise LaunchError("no mpicc found: install an MPI (`pip install mpich` is one) or set OPI_MPICC to its mpicc")
    return Path(found).absolute()


_MARKER = re.compile(r'^# \d+ "((?:[^"\\]|\\.)*/mpi\.h)"', re.MULTILINE)
_STRING_MACRO = re.compile(r'^#define (MPICH_VERSION|I_MPI_VERSION) "([^"]*)"', re.MULTILINE)
_NUMBER_MACRO = re.compile(r"^#define (OMPI_(?:MAJOR|MINOR|RELEASE)_VERSION) (\d+)", re.MULTILINE)
_ABI_MACRO = re.compile(r"^#define (MPI_ABI_(?:VERSION|SUBVERSION)) (\d+)", re.MULTILINE)


def _named(mpicc: Path) -> str:
    """A wrapper as the user named it."""
    named = os.environ.get("OPI_MPICC")
    found = shutil.which(named) if named else None
    return f"OPI_MPICC={named}" if found is not None and Path(found).absolute() == mpicc else str(mpicc)


@functools.cache
def inspect_mpi(mpicc: Path) -> Mpi:
    """Which MPI a wrapper belongs to. Raises LaunchError when it cannot compile a file that includes mpi.h."""
    command = [str(mpicc), "-E", "-dD", "-x", "c", "-"]
    try:
        done = subprocess.run(command, input="#include <mpi.h>\n", capture_output=True, text=True, check=False)
    except OSError as error:
        raise LaunchError(f"{_named(mpicc)}: cannot be run: {error.strerror}") from error
    header = _MARKER.search(done.stdout)
    if done.returncode != 0 or header is None:
        lines = done.stderr.strip().splitlines()
        why = lines[0] if lines else "it printed no mpi.h"
        advice = f"; {_WANTED}" if _named(mpicc) != str(mpicc) else ""
        raise LaunchError(f"{_named(mpicc)}: cannot compile a file that includes <mpi.h>: {why}{advice}")
    strings = dict(_STRING_MACRO.findall(done.stdout))
    numbers = dict(_NUMBER_MACRO.findall(done.stdout))
    if numbers:
        kind = "openmpi"
        version = ".".join(numbers.get(f"OMPI_{part}_VERSION", "0") for part in ("MAJOR", "MINOR", "RELEASE"))
    elif strings:
        kind = "mpich"
        version = strings.get("I_MPI_VERSION") or strings["MPICH_VERSION"]
    elif abi := dict(_ABI_MACRO.findall(done.stdout)):
        kind = "mpi_abi"
        version = f"{abi.get('MPI_ABI_VERSION', '0')}.{abi.get('MPI_ABI_SUBVERSION', '0')}"
    else:
        kind, version = "mpi", "unknown"
    return Mpi(mpicc, kind, version, Path(header[1]))


def find_mpi() -> Mpi:
    """The user's MPI. Raises LaunchError."""
    return inspect_mpi(find_mpicc())


def beside(library: Path) -> Mpi | None:
    """The MPI that a library was installed with: the nearest bin/mpicc at or above its directory. A library of MPI's
    own binary interface has a compiler wrapper of its own. Raises LaunchError when that one does not work."""
    wrapper = "mpicc_abi" if library.name.startswith("libmpi_abi.") else "mpicc"
    for place in (library.absolute(), library.resolve()):
        for directory in place.parents:
            mpicc = directory / "bin" / wrapper
            if os.access(mpicc, os.X_OK):
                return inspect_mpi(mpicc)
    return None
