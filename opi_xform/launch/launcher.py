"""Which MPI a command belongs to that is not the MPI's own compiler, and which C++ compiler belongs to an MPI."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, beside, find_mpi, inspect_mpi

_LIBRARY = re.compile(r"lib(?:mpi|mpich|mpi_abi|mpi_cray)\.(?:so[.\d]*|a)$")
_NAMES = ("-lmpi", "-lmpich", "-lmpi_abi")
_USUAL = ("mpicxx", "mpic++", "mpiCC")
_CXX = {
    "cc": ("CC",),
    "mpicc_abi": ("mpicxx_abi", "mpic++_abi"),
    "mpiicc": ("mpiicpc",),
    "mpiicx": ("mpiicpx",),
    "mpigcc": ("mpigxx",),
}
"""C++ wrappers by the C wrapper beside them, where they are not called as usual."""


def _libraries(arguments: Sequence[str]) -> Iterator[Path]:
    """The MPI's libraries among the files of a link, and among what `-l` finds in the directories of `-L`."""
    pairs = list(zip(("", *arguments), arguments, strict=False))
    folders = [Path(word if before == "-L" else word[2:]) for before, word in pairs if "-L" in (before, word[:2])]
    for word in arguments:
        if not word.startswith("-") and _LIBRARY.search(os.path.basename(word)):
            yield Path(word)
        elif word in _NAMES:
            for folder in folders:
                yield from (file for end in ("so", "a") if (file := folder / f"lib{word[2:]}.{end}").is_file())


def mpi_of(compiler: str, arguments: Sequence[str]) -> Mpi:
    """The MPI that a compiler's command links: ``$OPI_MPICC``, else that of the MPI library which it names, else the
    compiler's own where it is a wrapper, else the default one. Raises LaunchError, also where the library is of another
    kind."""
    library = next(_libraries(arguments), None)
    owner = None if library is None else beside(library)
    if "OPI_MPICC" in os.environ:
        mpi = find_mpi()
        if owner is not None and owner.kind != mpi.kind:
            advice = "set OPI_MPICC to the mpicc of the program's MPI"
            raise LaunchError(f"the program is linked with {library}, but {mpi.mpicc} belongs to {mpi.kind}; {advice}")
        return mpi
    if owner is None and library is None and "mpi" in os.path.basename(compiler):
        found = shutil.which(compiler)
        owner = None if found is None else inspect_mpi(Path(found).absolute())
    return owner or find_mpi()


def cxx_of(mpi: Mpi) -> Path:
    """The C++ compiler wrapper of an MPI: ``$OPI_MPICXX``, else the one beside its mpicc. Raises LaunchError."""
    named = os.environ.get("OPI_MPICXX")
    if named:
        found = shutil.which(named)
        if found is None:
            raise LaunchError(f"OPI_MPICXX={named}: no such command; it names the MPI's C++ compiler")
        return Path(found).absolute()
    name = mpi.mpicc.name
    names = _CXX.get(name, _USUAL)
    for other in names:
        file = mpi.mpicc.with_name(other)
        if os.access(file, os.X_OK):
            return file
    raise LaunchError(f"no C++ compiler of this MPI beside {mpi.mpicc} ({', '.join(names)}); set OPI_MPICXX to it")
