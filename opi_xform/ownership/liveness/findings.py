"""What liveness found out about the uses of one buffer object."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.codes import Reason
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """ok: the use may pass ownership as far as liveness goes; else ``reason`` says why not.

    replacing: if it is a receive that keeps what is there where the source is MPI_PROC_NULL.
    """

    ok: bool
    reason: Reason | None = None
    assumptions: tuple[str, ...] = ()
    replacing: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """What one attempt found: whether first contents are read, whether calloc's zeros are, whether memory without
    contents may be, the finding of each use.

    cleared: first contents are read where a receive keeps what is there, and zeros can be them.
    """

    initial: bool
    zeros: bool
    unwritten: bool
    cleared: bool
    findings: dict[tuple[int, int], Finding]

    def fine(self) -> bool:
        """Every use may pass ownership; what calloc's zeros are needed for, OPI_Calloc serves."""
        return fine(self.initial, self.findings)


def fine(initial: bool, findings: Mapping[tuple[int, int], Finding]) -> bool:
    return not initial and all(f.ok for f in findings.values())
