"""What Ctrl-C does before anything is done, and streams that are closed from the start."""

from __future__ import annotations

import os
import sys  # both are there already; `typing` is not, and takes as long as all of Python's own start

INTERRUPTED = 130
SAID = "opi-xform: interrupted; nothing was written"
_STREAMS = ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY))


def stop(*_: object) -> None:
    """What Ctrl-C does before anything is done."""
    os.write(2, f"{SAID}\n".encode())
    os._exit(INTERRUPTED)


def open_streams() -> None:
    """A closed stdout (`>&-`) is one that nothing can be written to; else a file that is opened next would be it."""
    for number, name, way in _STREAMS:
        if getattr(sys, name) is None:
            null = os.open(os.devnull, way)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, "w", encoding="utf-8"))  # noqa: SIM115
