"""Files of OPI_PROFILE=FILE.json: what a run sent, by which way, from where to where (docs/runtime.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opi_xform.record import dataclass

VERSION = 1
WAYS = ("inline", "give", "heap", "pipelined", "reference", "kernel")
_KEYS = ("ranks", "on_node", "left_to_mpi", "off_node", "outside", "copies", "matrix", "time")


class ProfileError(Exception):
    """A file is no profile; the message says what is wrong with it and what to do."""


@dataclass(frozen=True, slots=True)
class Count:
    """Messages, and the bytes in them."""

    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Sender:
    """A call that sent messages: ``file`` and ``line`` as the debug information of the program has them ('' and 0 where
    there is none; then ``text`` is all that is known), and what it sent, by way.
    """

    text: str
    file: str
    line: int
    ways: Mapping[str, Count]

    @property
    def all(self) -> Count:
        return Count(sum(c.messages for c in self.ways.values()), sum(c.bytes for c in self.ways.values()))


@dataclass(frozen=True, slots=True)
class Run:
    """One job.  ``ways``: the messages that libopi carried; ``others``: those that it did not, by reason.

    matrix: (from, to) -> messages of libopi and of the MPI.  senders: where the program was built with -g.
    """

    name: str
    ranks: int
    ways: Mapping[str, Count]
    others: Mapping[str, Count]
    copies: int
    saved_bytes: int
    passed: int
    matrix: Mapping[tuple[int, int], tuple[Count, Count]]
    library_s: float
    waiting_s: float
    senders: tuple[Sender, ...] = ()


def read_profile(name: str, data: bytes) -> Run:
    """What ``OPI_PROFILE=name`` wrote.  Raises ProfileError."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"is no profile ({error}); OPI_PROFILE=FILE.json writes one") from error
    if isinstance(value, dict) and set(value) == {"version", "ranks", "windows"}:
        raise ProfileError(
            "is a profile of thread or fiber ranks, which count windows alone; run it with process ranks"
        )
    if not isinstance(value, dict) or "version" not in value or any(key not in value for key in _KEYS):
        raise ProfileError("is no profile; OPI_PROFILE=FILE.json writes one")
    if value["version"] != VERSION:
        raise ProfileError(f"is a profile of version {value['version']!r}, not {VERSION}; run the program again")
    try:
        return _run(name, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProfileError("is a damaged profile; run the program again") from error


def _run(name: str, value: Mapping[str, Any]) -> Run:
    on_node, copies, time = value["on_node"], value["copies"], value["time"]
    left = {reason: _count(c) for reason, c in value["left_to_mpi"].items() if reason != "all"}
    others = {**left, "other nodes": _count(value["off_node"]), "other jobs": _count(value["outside"])}
    return Run(
        name,
        int(value["ranks"]),
        {way: _count(on_node[way]) for way in WAYS},
        {reason: c for reason, c in others.items() if c.messages},
        int(copies["made"]),
        int(copies["saved_bytes"]),
        int(copies["buffers_passed"]),
        {(int(m["from"]), int(m["to"])): (_count(m["on_node"]), _count(m["mpi"])) for m in value["matrix"]},
        float(time["library_s"]),
        float(time["waiting_s"]),
        tuple(_sender(s) for s in value.get("sites", ())),
    )


def _count(value: Mapping[str, Any]) -> Count:
    return Count(int(value["messages"]), int(value["bytes"]))


def _sender(value: Mapping[str, Any]) -> Sender:
    text = str(value["at"])
    file, _, line = text.rpartition(":")
    ways = {way: _count(value[way]) for way in (*WAYS, "mpi") if way in value}
    return Sender(text, file, int(line), ways) if file and line.isdigit() else Sender(text, "", 0, ways)


def merged(runs: tuple[Run, ...]) -> dict[tuple[str, int], Count]:
    """What each line sent, over all runs."""
    found: dict[tuple[str, int], Count] = {}
    for sender in (s for run in runs for s in run.senders if s.file):
        key, more = (sender.file, sender.line), sender.all
        old = found.get(key, Count(0, 0))
        found[key] = Count(old.messages + more.messages, old.bytes + more.bytes)
    return found
