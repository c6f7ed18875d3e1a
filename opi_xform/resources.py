"""Where the files that are data to the Python side live: the tables, the runtime's sources, the benchmark program.

In a checkout they stand beside the package (`analyses/`, `runtime/`, `testdata/opbench/`); an installed package carries
copies in `opi_xform/_data/`. A checkout wins, so that an editable install always sees the files being edited.
"""

from __future__ import annotations

from pathlib import Path


class IncompleteInstallError(Exception):
    """A file that belongs to the package is not there."""


_PACKAGE = Path(__file__).resolve().parent


def _root() -> Path:
    """The directory that holds `analyses/` and `runtime/`."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "runtime" / "include").is_dir():
        return checkout
    return _PACKAGE / "_data"


def resource(*parts: str) -> Path:
    """The path of one data file or directory, e.g. ``resource("runtime", "include")``.

    Raises IncompleteInstallError when it is missing.
    """
    path = _root().joinpath(*parts)
    if not path.exists():
        raise IncompleteInstallError(f"installation is incomplete: {path} is missing")
    return path


def analyses_dir() -> Path:
    """The tables (TOML): the automata that run, effects of libraries, datatypes, what ranks would share."""
    return resource("analyses")


def runtime_include_dir() -> Path:
    """The directory of `opi.h`."""
    return resource("runtime", "include")


def runtime_dir() -> Path:
    """The runtime: a folder for each library, one for what they share, and the headers of programs."""
    return resource("runtime")


def cmake_dir() -> Path:
    """The directory of CMake's package, opiConfig.cmake."""
    return resource("runtime", "cmake", "package")
