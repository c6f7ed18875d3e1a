"""Whether a private variable's text can be edited, and where (``privatize.names.Names``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ir.statics import Declared, Place, Statics
from opi_xform.privatize import relocate
from opi_xform.privatize.edits.identifiers import Words, words_of
from opi_xform.privatize.model import Settings, Variable
from opi_xform.privatize.program import Whole, merge
from opi_xform.rewrite.left_out import LeftOut
from opi_xform.text.sources import Sources

_CONST = re.compile(rb"(?<![\w$])const(?![\w$])[ \t]*")

_TWICE = re.compile(r"@\d+\.\d+$")
LARGEST = 256 << 10
"""Bytes of a variable whose initialiser is copied from the stack at a rank's start."""


class Text:
    """The files as they were parsed.  unit: the IR of a unit, by its path."""

    def __init__(
        self, units: Sequence[Statics], sources: Sources, settings: Settings, unit: Callable[[str], Unit]
    ) -> None:
        self.whole: Whole = merge(units)
        self.sources = sources
        self.settings = settings
        self.unit = unit
        self.files = sorted({file for one in units for file in one.files})
        self._words: dict[str, Words] = {}
        self._at: dict[Place, set[str]] = {}
        for number, one in enumerate(units):
            for use in one.uses:
                if use.span.macro is None:
                    key = self.whole.key_of[number, use.key]
                    self._at.setdefault((use.span.file, use.span.begin), set()).add(key)
        self._others: dict[str, set[Place]] = {}
        for one in units:
            for name, places in one.others.items():
                self._others.setdefault(name, set()).update(places)
        self._left_out = LeftOut(units, sources)
        self._names: dict[str, int] = {}
        for v in self.whole.variables.values():
            self._names[v.name] = self._names.get(v.name, 0) + 1

    def words(self, file: str) -> Words:
        if file not in self._words:
            self._words[file] = words_of(self.sources.text(file))
        return self._words[file]

    def written(self, span: Span) -> bytes:
        return self.sources.data(span.file)[span.begin : span.end]

    # --- tls --------------------------------------------------------------------------------------

    def movable(self, v: Variable) -> str:
        for number, static in v.parts:
            if (static.type.size or 0) > LARGEST:
                return f"its initialiser takes addresses, and it is larger than {LARGEST >> 10} KiB"
            if static.flexible:
                return "it ends in an array without a size, which its initialiser gives it"
            routine = self.whole.units[number].routines.get(static.function)
            if static.kind == "local-static" and routine is not None and routine.labels:
                return "its function has labels: a jump could pass its initialisation"
        for d in v.declared:
            if not d.plain:
                return "a macro writes its declaration, and its initialiser takes addresses"
            if d.has_init and (d.init is None or d.storage == "extern"):
                return "its initialiser cannot be taken out of its declaration"
            if d.bare:
                return "its initialiser takes addresses, and no statement can follow its declaration"
        if v.first.type.is_array:
            if any(d.suffix is None or b"[" not in self.written(d.suffix) for d in v.declared):
                return "its size is hidden in a typedef, and its initialiser takes addresses"
            if any(s.defined and s.type.count is None for _, s in v.parts):
                return "its size is not known"
        if any(s.type.const for _, s in v.parts) and any(self.constants(d) is None for d in v.declared):
            return "it is const through a typedef, a macro or together with others, and each rank must write it once"
        return ""

    def constants(self, d: Declared) -> list[tuple[int, int]] | None:
        """The words ``const`` that qualify the variable itself; None when they are not written there."""
        statement = d.statement
        data = self.sources.data(statement.file)
        between = data[statement.begin : d.name.begin]
        star = between.rfind(b"*")
        begin, end = statement.begin, statement.begin + len(d.specifiers.encode("utf-8", "surrogateescape"))
        if star >= 0 and statement.begin + star >= end:
            begin, end = statement.begin + star, d.name.begin
        elif b"," in _outside(data[end : statement.end]):
            return None
        text = self.sources.text(statement.file)
        found = [(m.start(), m.end()) for m in _CONST.finditer(data, begin, end) if text.region_at(m.start()) is None]
        brace = data.find(b"{", begin, end)
        close = data.rfind(b"}", begin, end)
        found = [(a, b) for a, b in found if not (brace >= 0 and brace < a < close)]
        return found or None

    # --- struct -----------------------------------------------------------------------------------

    def relocatable(self, v: Variable) -> str:
        try:
            for number, static in v.parts:
                if static.holds:
                    self.places(number, static.key, lambda key: True)
        except relocate.Unclear as unclear:
            return str(unclear)
        return ""

    def places(self, number: int, key: str, private: Callable[[str], bool]) -> list[tuple[int, str]]:
        """(offset, key in the unit) of each pointer to a private variable in an initialiser.  Raises Unclear."""
        one = self.whole.units[number]
        unit = self.unit(one.path)
        static = one.variables[key]
        found = unit.globals.get(key)
        if found is None:
            function = unit.functions.get(static.function)
            found = function.variables.get(key) if function is not None else None
        if found is None:
            raise relocate.Unclear("its initialiser is not understood")
        for d in static.declared:
            if d.has_init and (d.init is None or b"..." in self.written(d.init)):
                raise relocate.Unclear("its initialiser has a range of elements, or a macro writes it")

        def target(name: str) -> str:
            if _TWICE.search(name):
                raise relocate.Unclear("its initialiser names a variable that a macro declares several times")
            known = self.whole.key_of.get((number, name))
            return known if known is not None and private(known) else ""

        expected = sum(use.what == "init" and use.holder == key and bool(target(use.key)) for use in one.uses)
        return relocate.places(found, expected, target)

    def uses(self, v: Variable) -> str:
        known = self._known(v)
        for span in self._left_out.naming(v.name):
            if self.guards_in(v, span, known) is None:
                return f"code that another configuration compiles names it (line {span.line})"
        in_macros = False
        for use in v.uses:
            where = f"line {use.span.line}"
            if use.quoted:
                return f"a macro turns its name into text, or pastes it ({where})"
            if use.what == "init" and use.span.macro is not None:
                return f"a macro takes its address in an initialiser ({where})"
            if use.span.macro is not None:
                in_macros = True
            elif not use.span.editable:
                return f"a use cannot be edited ({where})"
            else:
                file = self.settings.original(use.span.file)
                if not self._inside(file):
                    return f"{self.settings.named(file)} uses it, outside {self.settings.named(self.settings.root)}"
                if len(self._at[use.span.file, use.span.begin]) > 1:
                    return f"one piece of text means several variables ({where})"
                if (use.span.file, use.span.begin) in self._others.get(v.name, ()):
                    return f"one piece of text means several things ({where})"
        if in_macros:
            reason = self._in_macros(v)
            if reason:
                return reason
        return self._complete(v)

    def _inside(self, file: str) -> bool:
        root = self.settings.root
        return file == root or file.startswith(root.rstrip("/") + "/")

    def _in_macros(self, v: Variable) -> str:
        """Bodies of macros name it: then the name must mean nothing else anywhere."""
        if self._names[v.name] > 1 or self._others.get(v.name):
            return "a macro's body names it, and the same name stands for something else elsewhere"
        for file in self.files:
            places = self.words(file).defined.get(v.name, ())
            if any(parameter for _, parameter in places):
                return "a macro's body names it, and another macro has a parameter of that name"
            original = self.settings.original(file)
            if places and not self._inside(original):
                return f"a macro of {self.settings.named(original)} names it"
        if not any(self.words(file).defined.get(v.name) for file in self.files):
            return "a macro that is not in the files given names it"
        return ""

    def _complete(self, v: Variable) -> str:
        """Every identifier of that name in its files has to be known, or guarded in text that is left out."""
        known = self._known(v)
        out = self._left_out.naming(v.name)
        files = {file for number, _ in v.parts for file in self.whole.units[number].files}
        for file in sorted(files):
            for at in self.words(file).code.get(v.name, ()):
                guarded = any(span.file == file and span.begin <= at < span.end for span in out)
                if (file, at) not in known and not guarded:
                    line = self.sources.data(file).count(b"\n", 0, at) + 1
                    return f"a use of it is not understood (line {line})"
        return ""

    def _known(self, v: Variable) -> set[Place]:
        """Where the name stands for something in some file that is compiled."""
        known = {(use.span.file, use.span.begin) for use in v.uses} | self._at.keys()
        known |= {(d.name.file, d.name.begin) for d in v.declared}
        known |= self._others.get(v.name, set())
        for other in self.whole.variables.values():
            if other.name == v.name:
                known |= {(d.name.file, d.name.begin) for d in other.declared}
        return known

    # --- text of other configurations -----------------------------------------------------------------

    def guards_in(self, v: Variable, span: Span, known: Collection[Place]) -> tuple[int, ...] | None:
        """Where ``#error`` has to stand so that nobody compiles what names it there; None where that cannot be said."""
        if not self._inside(self.settings.original(span.file)):
            return None
        return self._left_out.guards(v.name, span, known)

    def guards(self, v: Variable) -> Iterator[Place]:
        """The places of all ``#error`` directives that a private variable needs."""
        known = self._known(v)
        for span in self._left_out.naming(v.name):
            for at in self.guards_in(v, span, known) or ():
                yield span.file, at

    def macro_places(self, v: Variable) -> Collection[Place]:
        """Where the bodies of macros name it, when some use is made by one."""
        if all(use.span.macro is None for use in v.uses):
            return ()
        return [(f, at) for f in self.files for at, parameter in self.words(f).defined.get(v.name, ()) if not parameter]


def _outside(data: bytes) -> bytes:
    """The text with what stands in brackets left out."""
    depth, out = 0, bytearray()
    for byte in data:
        if byte in b"([{":
            depth += 1
        elif byte in b")]}":
            depth -= 1
        elif depth == 0:
            out.append(byte)
    return bytes(out)
