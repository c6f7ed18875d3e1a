"""Judging buffers, reading files in several processes: what each finds depends on no other, so only the time differs.

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


def each(
    work: Callable[[_T], _R], items: Sequence[_T], processes: int, pieces: int = 0, sizes: Sequence[int] = ()
) -> list[_R]:
    """``work`` of each item, in order.  pieces: how much is in all items together, if that is more.

    sizes: how long an item may take beside the others; the longest ones go to different processes.
    """
    count = min(processes, len(items), max(pieces, len(items)) // ENOUGH + 1)
    # Forking is quick, but not safe beside other threads.
    if count < 2 or not sys.platform.startswith("linux") or threading.active_count() > 1:
        return [work(item) for item in items]
    mine, *theirs = _dealt(sizes or [1] * len(items), count)
    found: dict[int, _R] = {}
    children: list[tuple[int, int]] = []
    try:
        for places in theirs:
            children.append(_forked(work, items, places))
        for place in mine:
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


def _dealt(sizes: Sequence[int], count: int) -> list[list[int]]:
    """The places of items, for each process: the largest first, each to the process that has least so far."""
    out: list[list[int]] = [[] for _ in range(count)]
    taken = [0] * count
    for place in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        least = taken.index(min(taken))
        out[least].append(place)
        taken[least] += sizes[place]
    return out


def _forked(work: Callable[[_T], _R], items: Sequence[_T], places: Sequence[int]) -> tuple[int, int]:
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
