"""--version: what a report of a fault has to name."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from opi_xform import __version__
from opi_xform.launch.mpi import LaunchError, find_mpi


def versions() -> str:
    """One line each: this tool, Python, the parser, the integer sets, the MPI that would be used."""
    lines = [
        f"opi-xform {__version__}",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    ]
    for package in ("libclang", "islpy"):
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            lines.append(f"{package}: not installed")
    try:
        mpi = find_mpi()
        lines.append(f"MPI: {mpi.kind} {mpi.version}, {mpi.mpicc}")
    except LaunchError as error:
        lines.append(f"MPI: {error}")
    return "".join(line + "\n" for line in lines)
