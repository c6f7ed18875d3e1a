"""What opirun has to know of a program before it starts it: which MPI it loads, and whether libopi is in it already."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import subprocess
from pathlib import Path

from opi_xform.launch.mpi import LaunchError
from opi_xform.record import dataclass

MARK = b"libopi: rank %d: "
"""A string of libopi's own: it is in every program and library that libopi was linked into."""

_LIBRARY = re.compile(r"^\s*(lib(?:mpi|mpich|mpi_abi|mpi_(?:cray|gnu|intel)\w*|pmpi)\.so[.\d]*) => (/\S+)", re.M)
_KINDS = {
    "libmpi.so.40": "openmpi",
    "libmpi.so.12": "mpich",
    "libmpich.so.12": "mpich",
    "libmpi_abi.so.0": "mpi_abi",
    "libmpi_abi.so.1": "mpi_abi",
}


@dataclass(frozen=True, slots=True)
class Executable:
    """One program, as far as it tells. A script tells nothing: no library, no kind."""

    path: Path
    mpi_library: Path | None = None
    """The MPI library that the loader finds for it."""
    mpi_kind: str | None = None
    """`mpich`, `openmpi` or `mpi_abi`, by the library's name and version number."""
    has_libopi: bool = False

    @property
    def tells(self) -> bool:
        """Whether this is a program of an MPI; else it may start one (a script, a debugger, `env`)."""
        return self.mpi_library is not None or self.has_libopi


def resolve(name: str) -> Path | None:
    """The executable file that a word of the command line stands for; None when there is none."""
    if os.sep in name:
        found = name if os.path.isfile(name) and os.access(name, os.X_OK) else None
    else:
        found = shutil.which(name)
        if found is None and os.path.isfile(name) and os.access(name, os.X_OK):
            found = name  # launchers look into the working directory too
    return Path(found) if found else None


def inspect_executable(name: str) -> Executable:
    """Looks at a program. Raises LaunchError when it is not there, or when it or its MPI is linked statically: nothing
    can be preloaded under it."""
    path = resolve(name)
    if path is None:
        raise LaunchError(f"{name}: no such program")
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return Executable(path)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            has_libopi = content.find(MARK) >= 0
            has_mpi = content.find(b"MPI_Init") >= 0
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    try:
        done = subprocess.run(
            ["ldd", str(path.absolute())], capture_output=True, text=True, check=False, env=environment
        )
    except OSError:
        return Executable(path, has_libopi=has_libopi)
    if "not a dynamic executable" in done.stdout + done.stderr and not has_libopi:
        raise LaunchError(f"{path} is linked statically, nothing can be preloaded under it: link it with opicc")
    library = _LIBRARY.search(done.stdout)
    if library is None:
        if has_mpi and not has_libopi and not _missing(done.stdout):
            raise LaunchError(
                f"{path} has its MPI linked in statically, calls cannot be redirected: link it with opicc"
            )
        return Executable(path, has_libopi=has_libopi)
    return Executable(path, Path(library[2]), _KINDS.get(library[1]), has_libopi)


def _missing(listed: str) -> bool:
    """Whether the loader did not find a library: then it may be the MPI's."""
    return "=> not found" in listed
