"""What a condition looks at, made from a small program: its facts, one buffer's, one call's, calls that are placed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ownership_support import Source, source, source_in

from opi_xform.ownership.deciding.facts import BufferFacts, Going, Placed, ProgramFacts, Site, Supposed
from opi_xform.ownership.model.buffers import Options, Refusal
from opi_xform.ownership.placement.place import Placement, place

SEND = "MPI_Send(b, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
RECV = "MPI_Recv(b, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
FILL = "for (int i = 0; i < 1000; i++) b[i] = i;"
TOP = "static double b[1000];"


def main(body: str, top: str = TOP) -> str:
    """A program: what stands beside functions, and what ``main`` does."""
    return f"{top}\nint main(int argc, char **argv)\n{{\n{body}\nreturn 0;\n}}\n"


def program_facts(found: Source, options: Options) -> ProgramFacts:
    return ProgramFacts(found.units, found.program, options)


def buffer_facts(text: str, *others: str, options: Options | None = None) -> BufferFacts:
    """Of the only buffer of the program that a call sends or receives."""
    return only_buffer(source(text, *others), options or Options())


def only_buffer(found: Source, options: Options) -> BufferFacts:
    (buffer,) = [one for one in found.buffers.values() if one.uses]
    return BufferFacts(program_facts(found, options), buffer)


def site(text: str, *others: str, options: Options | None = None, which: int = 0) -> Site:
    """The call that stands first in the program, or another one; in all copies of its function."""
    facts = buffer_facts(text, *others, options=options)
    places = sorted({use.place for use in facts.found.uses})
    uses = [use for use in facts.found.uses if use.place == places[which]]
    return Site(facts, places[which], uses, wordless=False)


def going(facts: BufferFacts) -> Going:
    """All calls of the buffer, as if they would convert."""
    return Going(facts, frozenset(use.place for use in facts.buffer.uses), Supposed())


def placed(text: str, *others: str) -> Placed:
    """The same, and what converting them takes is placed."""
    with tempfile.TemporaryDirectory() as folder:
        return placed_in(Path(folder), text, *others)


def placed_in(folder: Path, text: str, *others: str) -> Placed:
    """The same of a program in a folder, where its headers are."""
    all_of_them = going(only_buffer(source_in(folder, text, *others), Options()))
    facts = all_of_them.facts
    found = place(facts.program, facts.buffer, all_of_them.places, facts.values.null_tests)
    assert isinstance(found, Placement), found
    out = Placed(all_of_them, facts.buffer, found)
    assert out.edits  # made here, since the files are read again for them
    return out


def reason(refusal: Refusal | None) -> str:
    """The name of the reason, '' where there is none."""
    return refusal.reason.name if refusal is not None else ""
