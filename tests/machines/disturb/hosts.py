"""The places of the convertible cases where a disturbance may be put: one a site that is said to convert."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from case_tools import Case, load_cases

CALL = re.compile(r"^(\s*)(MPI_(?:Send|Isend|Recv|Irecv|Sendrecv)\(.*\);) (//~ .*)$")
HOLE = re.compile(r"^(.*) //~ hole: (\w+ = )0 => (\w+ = )1$")
EFFECT = re.compile(r"\+\+|--|[^=!<>]=[^=]")
BLOCKING = ("MPI_Send(", "MPI_Recv(", "MPI_Sendrecv(")
SHORTER = r"MPI_Get_count|MPI_Get_elements|MPI_I?M?[Pp]robe|MPI_ANY_TAG"
"""Words of programs that receive messages of which they do not know the length."""
HINDERS = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?:abs|div|RAND_MAX|EXIT_FAILURE|EXIT_SUCCESS)\b", re.MULTILINE)
"""Macros of a program that do not let stdlib.h stand below them, or that it changes: no disturbance comes there."""
C_TYPES = {
    "MPI_DOUBLE": "double",
    "MPI_FLOAT": "float",
    "MPI_INT": "int",
    "MPI_LONG": "long",
    "MPI_CHAR": "char",
    "MPI_BYTE": "unsigned char",
    "MPI_UNSIGNED": "unsigned",
    "MPI_SHORT": "short",
}


@dataclass(frozen=True, slots=True)
class Host:
    """A call in a case: ``line`` of ``file``, of which one side is said to convert.

    buffer, count, mpi_type: that side's arguments as written; c_type: '' where the element's C type is not known.
    carrier: the words that name the buffer, where these are a pointer variable; else ''.
    blocking: it has completed when it returns.  whole: nothing says that its message may be shorter than the count.
    lasting: the buffer is an array at file level, which is there until the program's end.
    holes: lines of packing loops whose first value may be another.
    """

    case: Case
    file: str
    line: int
    side: str
    buffer: str
    count: str
    mpi_type: str
    c_type: str
    carrier: str
    blocking: bool
    whole: bool
    lasting: bool
    holes: tuple[int, ...]

    @property
    def inside(self) -> bool:
        """The message is written as a place in its buffer: ``out + n``, ``&out[n]``."""
        return "+" in self.buffer or self.buffer.startswith("&")

    @property
    def name(self) -> str:
        return f"{self.case.name}-{self.line}-{self.side}"


def arguments_of(call: str) -> list[str]:
    """The arguments of a call as written."""
    inside, depth, parts = call[call.index("(") + 1 : call.rindex(")")], 0, [""]
    for char in inside:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


@cache
def hosts() -> tuple[Host, ...]:
    """Of all cases, by name and line."""
    return tuple(host for case in load_cases("convert") for host in _of(case))


def _of(case: Case) -> Iterator[Host]:
    if any(map(HINDERS.search, case.texts.values())):
        return
    for wish in case.wishes:
        lines = case.texts[wish.file].splitlines()
        found = CALL.match(lines[wish.line - 1])
        if not found or wish.kind not in ("give", "take"):
            continue
        side = "send" if wish.kind == "give" else "recv"
        parts = arguments_of(found[2])
        at = 5 if side == "recv" and "Sendrecv" in found[2] else 0
        buffer, count, mpi_type = parts[at : at + 3]
        if EFFECT.search(buffer + count) or _may_be_empty(count, case):
            continue
        holes = tuple(number for number, line in enumerate(lines, 1) if HOLE.match(line)) if side == "send" else ()
        yield Host(
            case,
            wish.file,
            wish.line,
            side,
            buffer,
            count,
            mpi_type,
            C_TYPES.get(mpi_type, ""),
            buffer if buffer == wish.buffer and _is_pointer(buffer, case) else "",
            found[2].startswith(BLOCKING),
            not re.search(SHORTER, case.texts[wish.file]),
            bool(re.search(rf"^(?:static )?\w[\w ]*\b{re.escape(buffer)}\[", case.texts[wish.file], re.MULTILINE)),
            holes,
        )


def _may_be_empty(count: str, case: Case) -> bool:
    """The case asks whether its message has any element: without one there may be no memory, either."""
    asked = re.compile(rf"(?<![\w.>]){re.escape(count)} *(?:>|==|!=|<=) *0\b")
    return any(map(asked.search, case.texts.values()))


def _is_pointer(words: str, case: Case) -> bool:
    """The declaration of the last word makes it a pointer, in each text that declares it so."""
    last = re.fullmatch(r"(?:\w+(?:\.|->))*(\w+)", words)
    if not last:
        return False
    declared = re.compile(rf"\*\s*{last[1]}\b\s*[,;=)]")
    array = re.compile(rf"\b{last[1]}\s*\[[^\]]*\]\s*[,;=]")
    text = "\n".join(case.texts.values())
    return bool(declared.search(text)) and not array.search(text)
