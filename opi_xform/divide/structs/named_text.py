"""The text that names a struct: all of it has to be known where an array leaves the struct."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from opi_xform.frontend.clang.source import tokens
from opi_xform.ir import ast
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.configurations import means
from opi_xform.ownership.spelling.mentioned import mentions_of

_OTHER_NAMES = (b".", b"->", b"struct", b"union", b"enum")  # after these a word names no variable
_DEFINES = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\(?:\r?\n)?)*)", re.MULTILINE)


class NamedText:
    """Of one program."""

    def __init__(self, program: Program, units: Sequence[ast.Unit], read: Callable[[str], bytes]) -> None:
        self.program = program
        self.units = units
        self.read = read
        self.index = mentions_of(units)
        self.macros: Mapping[str, Sequence[bytes]] | None = None

    def bodies(self) -> Mapping[str, Sequence[bytes]]:
        """What stands behind the name of each macro, by the name."""
        if self.macros is None:
            found: dict[str, list[bytes]] = {}
            for file in self.program.files:
                for one in _DEFINES.finditer(self.read(file)):
                    found.setdefault(one[1].decode(), []).append(one[2])
            self.macros = found
        return self.macros

    def called(self, variable: ast.Variable) -> set[bytes]:
        """The words that mean the variable: its name, and macros that are nothing else."""
        name = variable.name.encode()
        plain = {
            alias for alias, bodies in self.bodies().items() if {b.strip() for b in bodies if b[:1] in b" \t"} == {name}
        }
        return {name, *(alias.encode() for alias in plain)}

    def accounted(self, variable: ast.Variable, called: Collection[bytes]) -> bool:
        """All text that names the struct is known, also what is left out here.

        The body of a macro that names more than the struct is no text of its own: each of its uses is known, and none
        is in text that is left out.
        """
        function = self.program.functions.get(variable.function)
        known = {(m.ref.span.file, m.ref.span.begin) for m in self.index.by_key.get(variable.key, ())}
        known |= {(d.name_span.file, d.name_span.begin) for d in variable.declarators}
        for word in called:
            known |= self.index.known.get(word.decode(), set())  # other variables of that name, too
        if function is not None and self.left_out(variable, called):
            return False
        where = self.program.files if function is None else (function.span.file,)
        for file in where:
            data = self.read(file)
            begin, end = (0, len(data)) if function is None else (function.span.begin, function.span.end)
            macros = [one.span(2) for one in _DEFINES.finditer(data)]
            before: list[bytes] = [b"", b""]
            for a, b, kind in tokens(data, begin, end):
                if kind == "space":
                    continue
                word = data[a:b]
                named = kind == "word" and word in called and before[1] not in _OTHER_NAMES and before[1] != b"define"
                inside = any(first <= a < last for first, last in macros) and not self.skipped(file, a)
                if named and (file, a) not in known and not inside:
                    return False
                before = [before[1], word]
        naming = self.made_of(called)
        return not any(naming & text.identifiers for unit in self.units for text in unit.skipped)

    def skipped(self, file: str, at: int) -> bool:
        """Another configuration compiles what stands there."""
        texts = (text.span for unit in self.units for text in unit.skipped)
        return any(span.file == file and span.begin <= at < span.end for span in texts)

    def left_out(self, variable: ast.Variable, called: Collection[bytes]) -> bool:
        """Text that is left out here names the variable of a function, or a macro there does."""
        return any(
            word.decode() in text.identifiers and means(unit, self.program, text, word.decode(), variable.key)
            for unit in self.units
            for text in unit.skipped
            for word in called
        )

    def made_of(self, words: Collection[bytes]) -> set[str]:
        """The macros that name one of these words in their bodies, or such a macro."""
        out: set[str] = set()
        work = list(words)
        while work:
            word = re.compile(rb"\b" + re.escape(work.pop()) + rb"\b")
            for macro, bodies in self.bodies().items():
                if macro not in out and any(word.search(body) for body in bodies):
                    out.add(macro)
                    work.append(macro.encode())
        return out
