"""What apps_profile.c recorded of a run, and how long the ranks communicated and how long they waited for one another.

A call's time counts as communication from when both sides have entered: for a receive from when its sender has begun to
send, for a send that had to wait from when its receive was posted, for a collective from when the last rank has entered
that has to. What lies before is waiting for a late partner, and so are looks for messages that found none.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import LaunchError

NEVER, MESSAGES, FOR_ALL, FOR_ROOT, AT_ROOT, POLLED = range(6)
"""How a call may wait: the `how` of a call."""
SENT, RECEIVED = range(2)

_HEADER = struct.Struct("=dddQQQQ")
_CALL = struct.Struct("=ddiiIi")
_MESSAGE = struct.Struct("=diiiIii")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a program; times in seconds of the node's clock."""

    enter: float
    leave: float
    how: int
    root: bool = False
    comm: int = 0
    """Of a collective: the same number on all members."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One side of a message; world ranks."""

    posted: float
    side: int
    peer: int
    tag: int
    comm: int
    call: int
    """Index of the call in which it was complete, -1 if none."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One rank's run."""

    begun: float
    ended: float
    calls: tuple[Call, ...]
    messages: tuple[Message, ...]
    beyond: float = 0.0
    """Seconds in the calls that were only added up: more than the rank was asked to keep."""
    threads: bool = False
    """Its threads may call MPI at once: no call was timed."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: the whole run on the slowest rank; communication and waiting, means over the ranks."""

    run: float
    communication: float
    waiting: float
    beyond: float = 0.0
    """In calls that were only added up: nobody can tell which of the two it was; the mean, too."""


def read_trace(path: Path) -> Trace:
    """Raises LaunchError when the file is missing or cut short."""
    try:
        data = path.read_bytes()
        begun, ended, beyond, ncalls, nmessages, _, threads = _HEADER.unpack_from(data)
    except (OSError, struct.error) as error:
        raise LaunchError(f"{path}: no trace of a run: {error}", 1) from error
    split = _HEADER.size + ncalls * _CALL.size
    if len(data) != split + nmessages * _MESSAGE.size:
        raise LaunchError(f"{path}: cut short", 1)
    calls = tuple(
        Call(enter, leave, how, bool(root), comm, size)
        for enter, leave, how, root, comm, size in _CALL.iter_unpack(data[_HEADER.size : split])
    )
    messages = tuple(
        Message(posted, side, peer, tag, comm, call)
        for posted, side, peer, tag, comm, call, _ in _MESSAGE.iter_unpack(data[split:])
    )
    return Trace(begun, ended, calls, messages, beyond, bool(threads))


def _partners(traces: Sequence[Trace]) -> list[dict[int, float]]:
    """For each rank: call -> when the last partner whose message it completed had entered."""
    posted: dict[tuple[int, int, int, int, int], list[float]] = defaultdict(list)
    for rank, trace in enumerate(traces):
        for one in trace.messages:
            pair = (rank, one.peer) if one.side == SENT else (one.peer, rank)
            posted[one.side, pair[0], pair[1], one.tag, one.comm].append(one.posted)
    entered: list[dict[int, float]] = [{} for _ in traces]
    seen: dict[tuple[int, int, int, int, int], int] = defaultdict(int)
    for rank, trace in enumerate(traces):
        for one in trace.messages:
            pair = (rank, one.peer) if one.side == SENT else (one.peer, rank)
            key = (one.side, pair[0], pair[1], one.tag, one.comm)
            number = seen[key]
            seen[key] += 1
            others = posted.get((1 - one.side, pair[0], pair[1], one.tag, one.comm), [])
            if one.call < 0 or number >= len(others):
                continue
            other = others[number]
            # A send that ended before its receive was posted did not wait for it.
            if one.side == SENT and other > trace.calls[one.call].leave:
                continue
            entered[rank][one.call] = max(other, entered[rank].get(one.call, other))
    return entered


def _collectives(traces: Sequence[Trace]) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """(communicator, its size) -> for each collective in turn: when the last member entered, when the root did."""
    found: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for trace in traces:
        number: dict[tuple[int, int], int] = defaultdict(int)
        for call in trace.calls:
            if call.how not in (FOR_ALL, FOR_ROOT, AT_ROOT):
                continue
            key = (call.comm, call.size)
            if number[key] == len(found[key]):
                found[key].append((call.enter, call.enter if call.root else 0.0))
            else:
                last, root = found[key][number[key]]
                found[key][number[key]] = (max(last, call.enter), call.enter if call.root else root)
            number[key] += 1
    return found


def times_of(traces: Sequence[Trace]) -> Times:
    """Of all ranks of one run."""
    partners = _partners(traces)
    collectives = _collectives(traces)
    communication = waiting = 0.0
    for trace, partner in zip(traces, partners, strict=True):
        number: dict[tuple[int, int], int] = defaultdict(int)
        for index, call in enumerate(trace.calls):
            start = call.enter
            if call.how == POLLED:
                start = call.leave
            elif call.how == MESSAGES:
                start = max(start, partner.get(index, start))
            elif call.how in (FOR_ALL, FOR_ROOT, AT_ROOT):
                key = (call.comm, call.size)
                last, root = collectives[key][number[key]]
                number[key] += 1
                if call.how == FOR_ALL or (call.how == AT_ROOT and call.root):
                    start = last
                elif call.how == FOR_ROOT and not call.root:
                    start = max(start, root)
            start = min(start, call.leave)
            waiting += start - call.enter
            communication += call.leave - start
    run = max(trace.ended - trace.begun for trace in traces)
    beyond = sum(trace.beyond for trace in traces)
    return Times(run, communication / len(traces), waiting / len(traces), beyond / len(traces))
