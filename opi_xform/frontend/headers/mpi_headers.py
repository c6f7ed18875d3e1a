"""The MPI's own headers among the files that were read: what they name says nothing of the program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from opi_xform.frontend.clang.source import File


def named_elsewhere(
    name: str, flags: Sequence[str], files: Sequence[File], dependencies: Iterable[str], known: Iterable[str]
) -> bool:
    """Whether the name stands in the flags or in a file that is not one of the MPI's headers.

    dependencies: all files that were read.  known: those that have the name, of what was read before.
    """
    mpi = {path for path in dependencies if os.path.basename(path) == "mpi.h"}
    folders = {os.path.dirname(path) for path in mpi}
    own = (f for f in files if f.path not in mpi and not (f.system and os.path.dirname(f.path) in folders))
    return (
        any(name in flag for flag in flags)
        or any(name.encode() in f.data for f in own)
        or any(os.path.dirname(path) not in folders for path in known)
    )
