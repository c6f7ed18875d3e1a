"""Judging buffers in several processes: what each finds depends on no other, so only the time differs.

Processes are forked, since the program at hand is far too large to send.  What one of them does not answer, because it
died or its answer cannot travel, is judged at home.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

ENOUGH = 24
"""Buffers that are worth a process: the fork of a large one and the way back cost as much as judging a few."""


def each(work: Callable[[_T], _R], items: Sequence[_T], processes: int, pieces: int = 0) -> list[_R]:
    """``work`` of each item, in order.  pieces: how much is in all items together, if that is more."""
    count = min(processes, len(items), max(pieces, len(items)) // ENOUGH + 1)
    # Forking is quick, but not safe beside other threads.
    if count < 2 or not sys.platform.startswith("linux") or threading.active_count() > 1:
        return [work(item) for item in items]
    found: dict[int, _R] = {}
    children: list[tuple[int, int]] = []
    try:
        for number in range(1, count):
            children.append(_forked(work, items, range(number, len(items), count)))
        for place in range(0, len(items), count):
            found[place] = work(items[place])
        while children:
            child, pipe = children[0]
            with open(pipe, "rb") as stream:
                data = stream.read()
            children.pop(0)
            os.waitpid(child, 0)
            with suppress(Exception):  # pickle raises nearly anything on bytes that were cut off
                found.update(pickle.loads(data))
    finally:
        for child, pipe in children:
            with suppress(OSError):
                os.close(pipe)
            with suppress(OSError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
    return [found[place] if place in found else work(item) for place, item in enumerate(items)]


def _forked(work: Callable[[_T], _R], items: Sequence[_T], places: range) -> tuple[int, int]:
    """A child that works on some of the items, and the end of a pipe at which its answer comes."""
    here, there = os.pipe()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    child = os.fork()
    if child:
        os.close(there)
        return child, here
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C goes to all: a child just ends, the command tells of it
        os.close(here)
        answer = pickle.dumps({place: work(items[place]) for place in places}, pickle.HIGHEST_PROTOCOL)
        with open(there, "wb") as stream:
            stream.write(answer)
    except BaseException:  # the command judges these itself, and meets what was raised
        os._exit(1)
    os._exit(0)
