"""Braced initialisers: from the written form to values at byte offsets (C11 6.7.9)."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir.ast import Expr, InitList, StringLit
from opi_xform.ir.span import Span
from opi_xform.ir.types import Record, Type
from opi_xform.record import dataclass

MAX_REPEAT = 1 << 16
"""Elements that one ``[a ... b]`` range may write out."""


@dataclass(frozen=True, slots=True)
class Designated:
    """``.f[2] = value``: names, indices, or (first, last) for a GNU range."""

    path: tuple[str | int | tuple[int, int], ...]
    value: Expr | Braces


@dataclass(frozen=True, slots=True)
class Braces:
    """A braced list as written; its type comes from what it initialises."""

    span: Span
    items: tuple[Expr | Braces | Designated, ...]


@dataclass(slots=True)
class _Level:
    """An aggregate being filled: the members not yet reached begin at ``next``."""

    type: Type
    base: int
    next: int = 0


class _Frame:
    """One braced list being read: how far, and the aggregates open in it (``scalar``: it initialises no aggregate)."""

    def __init__(self, braces: Braces, type_: Type, base: int) -> None:
        self.items = braces.items
        self.at = 0
        self.base = base
        self.scalar = type_ if type_.kind not in ("array", "record") else None
        self.levels = [_Level(type_, base)]


class _Filler:
    def __init__(self, records: Mapping[str, Record]) -> None:
        self._records = records
        self.items: list[Expr] = []
        self.offsets: list[int] = []

    def members(self, type_: Type, n: int) -> tuple[Type, int, int] | None:
        """Member ``n`` of an aggregate: (type, offset, number of the member that follows it)."""
        if type_.kind == "array" and type_.elem is not None:
            if type_.count is not None and n >= type_.count:
                return None
            return type_.elem, n * (type_.elem.size or 0), n + 1
        record = self._records.get(type_.record)
        if record is None or n >= len(record.fields):
            return None
        field = record.fields[n]
        following = n + 1
        # Of the members of a union only one is initialised; they begin at one offset and overlap.
        if record.union:
            following = len(record.fields)
        else:
            while following < len(record.fields) and _overlap(
                field.offset, field.type, field.bitfield, record, following
            ):
                following += 1
        return field.type, field.offset, following

    def fill(self, braces: Braces, type_: Type, base: int) -> None:
        """Runs through the lists in source order, inner lists as they come, so that later values come later."""
        frames = [_Frame(braces, type_, base)]
        while frames:
            frame = frames[-1]
            if frame.at == len(frame.items):
                frames.pop()
                continue
            item = frame.items[frame.at]
            frame.at += 1
            if frame.scalar is not None:
                frame.at = len(frame.items)
                self._put(
                    item.value if isinstance(item, Designated) else item, frame.scalar, base=frame.base, work=frames
                )
            elif isinstance(item, Designated):
                del frame.levels[1:]
                self._designated(item, frame.levels, frames)
            else:
                self._positional(item, frame.levels, frames)

    def _put(self, value: Expr | Braces, type_: Type, base: int, work: list[_Frame]) -> None:
        if isinstance(value, Braces):
            work.append(_Frame(value, type_, base))
        else:
            self.items.append(value)
            self.offsets.append(base)

    def _positional(self, item: Expr | Braces, stack: list[_Level], work: list[_Frame]) -> None:
        while stack:
            level = stack[-1]
            member = self.members(level.type, level.next)
            if member is None:
                if len(stack) == 1:
                    return
                stack.pop()
                continue
            type_, offset, level.next = member
            at = level.base + offset
            while not isinstance(item, Braces) and not _takes(type_, item):
                inner = self.members(type_, 0)
                if inner is None:
                    break
                stack.append(_Level(type_, at, inner[2]))
                at, type_ = at + inner[1], inner[0]
            self._put(item, type_, at, work)
            return

    def _designated(self, item: Designated, stack: list[_Level], work: list[_Frame]) -> None:
        places = [(stack[0].type, stack[0].base)]
        for position, step in enumerate(item.path):
            type_, base = places[0]
            if isinstance(step, str):
                record = self._records.get(type_.record)
                if record is None:
                    return
                n = next((k for k, f in enumerate(record.fields) if f.name == step), None)
                if n is None:
                    return
                numbers = [n]
            else:
                first, last = step if isinstance(step, tuple) else (step, step)
                numbers = list(range(first, min(last, first + MAX_REPEAT) + 1))
            found = [(self.members(t, n), b, t, n) for t, b in places for n in numbers]
            if position:
                stack.append(_Level(type_, base))
            last_member = found[-1][0]
            if last_member is None:
                return
            stack[-1].next = last_member[2]
            places = [(m[0], b + m[1]) for m, b, _, _ in found if m is not None]
        for type_, at in places:
            value = item.value
            if not isinstance(value, Braces) and not _takes(type_, value):
                inner_stack = [_Level(type_, at)]
                self._positional(value, inner_stack, work)
                stack.extend(inner_stack)
            else:
                self._put(value, type_, at, work)


def _overlap(offset: int, type_: Type, bitfield: bool, record: Record, n: int) -> bool:
    """Whether member ``n`` lies in the bytes of the one before: then both are members of an anonymous union."""
    other = record.fields[n]
    if bitfield or other.bitfield:
        return False
    return other.offset < offset + max(type_.size or 0, 1)


def _takes(type_: Type, value: Expr) -> bool:
    """Whether the value initialises the whole of an object of this type."""
    if type_.kind == "array":
        return isinstance(value, StringLit) and type_.elem is not None and type_.elem.kind == "int"
    if type_.kind == "record":
        return value.type.kind == "record"
    return True


def flatten(braces: Braces, type_: Type, records: Mapping[str, Record]) -> InitList:
    """The initialiser as scalar values (or whole records and strings) at byte offsets, sorted; the rest is zero."""
    filler = _Filler(records)
    filler.fill(braces, type_, 0)
    # Where two values name the same bytes the later one counts; bit fields of one byte stand side by side.
    order = sorted(range(len(filler.offsets)), key=lambda k: filler.offsets[k])
    return InitList(type_, braces.span, tuple(filler.items[k] for k in order), tuple(filler.offsets[k] for k in order))
