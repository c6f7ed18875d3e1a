"""What the words of new text mean in the file that gets it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from opi_xform.ir import ast
from opi_xform.rewrite.header import header_edit, is_included
from opi_xform.text.edit import ByteEdit
from opi_xform.text.sources import Sources

HEADERS = {"malloc": "stdlib.h", "free": "stdlib.h", "memcpy": "string.h"}
"""What new text calls, and the header that declares it."""
SAID = frozenset((*HEADERS, "NULL", "size_t", "MPI_Abort", "MPI_COMM_WORLD", "MPI_Get_count", "MPI_PROC_NULL"))
"""What else it says, but for types."""


class Ground:
    """One file, and the units that read it."""

    def __init__(
        self, units: Sequence[ast.Unit], file: str, sources: Sources, flags: Callable[[str], tuple[str, ...]]
    ) -> None:
        """flags: of a unit's path."""
        self.file = file
        self.source = sources.text(file)
        self.units = [unit for unit in units if file in (unit.path, *unit.files)]
        read = sorted({sources.name(path) for unit in self.units for path in (unit.path, *unit.files)})
        self.texts = [sources.data(path) for path in read]
        self.flags = [flag for unit in self.units for flag in flags(unit.path)]

    @property
    def is_c_plus_plus(self) -> bool:
        """The flags ask for what compiles as C++, too."""
        return any(flag.endswith("c++-compat") for flag in self.flags)

    def knows(self, name: str) -> bool:
        """The name stands somewhere in what the units read, or in their flags."""
        word = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        flags = (flag.removeprefix("-D").encode() for flag in self.flags)  # `-DNAME=1` is one word
        return any(map(word.search, (*self.texts, *flags)))

    def means_its_own(self, names: Collection[str]) -> bool:
        """One of the names is a macro, a variable, a parameter or a function of the program's own."""
        for unit in self.units:
            inside = (v.name for f in unit.functions.values() for v in f.variables.values())
            if not set(names).isdisjoint((*inside, *(v.name for v in unit.globals.values()), *unit.functions)):
                return True
        either = b"|".join(sorted(re.escape(name.encode()) for name in names))
        macro = re.compile(rb"^[ \t]*#(?:[ \t]|/\*.*?\*/)*define(?:[ \t]|/\*.*?\*/)+(?:%b)\b" % either, re.MULTILINE)
        flag = re.compile(rf"(?:-D)?(?:{either.decode()})(?:[=(].*)?")
        return any(macro.search(text) for text in self.texts) or any(flag.fullmatch(one) for one in self.flags)

    def includes(self, begin: int) -> tuple[ByteEdit, ...] | None:
        """The headers that the file lacks before a place; None where they cannot be put in."""
        missing: dict[str, None] = {}
        for unit in self.units:
            found = (header for name, header in HEADERS.items() if name not in unit.declared)
            missing.update((header, None) for header in found if not is_included(self.source, header, begin))
        if missing and any(self.file != unit.path for unit in self.units):
            return None  # a header: what its readers include is theirs
        edits = []
        for rank, header in enumerate(missing):
            edit = header_edit(self.source, header, system=True)
            if edit is None or edit.begin > begin:  # it is named in another configuration, or comes too late
                return None
            edits.append(ByteEdit(edit.begin, edit.end, (rank,), edit.text))
        return tuple(edits)
