"""What the text of the program demands of a carrier: its declarations, ``sizeof``, other configurations, other files.

Conditions "declaration" (``sizeof``, ``typeof`` and ``&buf`` keep their meaning) and "whole program" (every file and
configuration that can see the object is part of the analysis).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.frontend.clang.source import closing, skip_space
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ownership.model.buffers import ALIGNMENT, Carrier, Refusal
from opi_xform.ownership.model.plan import Edit, ReplaceCall, ReplaceText
from opi_xform.ownership.spelling.mentioned import Index, Inspection, Mention, mentions_of
from opi_xform.ownership.spelling.text import Texts

_WORD = re.compile(rb"[A-Za-z_]\w*")
_UNTOUCHABLE = re.compile(
    rb"\b(?:__attribute__|__attribute|__declspec|_Alignas|alignas|typeof|__typeof__|__typeof|_Thread_local|__thread"
    rb"|thread_local|register|asm|__asm__|__asm|_Atomic|__extension__)\b"
)
_NAME = re.compile(r"(?<!struct )(?<!union )(?<!enum )\b[A-Za-z_]\w*")
_SIZE_OF_TYPE = re.compile(r"\bsizeof\s*\(\s*(?:unsigned\s+|signed\s+)?(?:char|short|int|long|float|double)\s*\)")
_CONST = re.compile(rb"\*\s*(const\s+)(?:restrict\s+)?$")


def inspect(
    units: Sequence[ast.Unit], key: str, kind: str, complete: bool, root: str = "", rows: int = 0
) -> Inspection:
    """All checks of one carrier variable.

    kind: ``array`` or ``pointer``.  complete: main is among the files, so nothing outside them calls in.  root: files
    below it may be edited ('': all).  rows: leading dimensions that stay an array (of pointers).
    """
    index = mentions_of(units)
    question = (key, kind, complete, root, rows)
    if question not in index.inspected:
        index.inspected[question] = _Inspector(index, key, kind, complete, root, rows).run()
        index.edits[key, rows] = index.inspected[question].edits
    return index.inspected[question]


def source_refusal(
    units: Sequence[ast.Unit], key: str, kind: str, complete: bool, root: str = "", rows: int = 0
) -> Refusal | None:
    """Why the declarations or mentions of a carrier forbid every conversion; None when nothing does."""
    return inspect(units, key, kind, complete, root, rows).refusal


def array_edits(
    units: Sequence[ast.Unit], carrier: Carrier, others: Sequence[Edit], lifted: Sequence[Span]
) -> tuple[ReplaceText, ...]:
    """The edits that keep the value of every ``sizeof`` and ``&array`` of an array that becomes a pointer.

    others: of the same buffer; the arguments that calls get anew need none.  Nor do those of parameters that are
    ``lifted``: the address of the pointer is what they have to be.
    """
    known = mentions_of(units).edits.get((carrier.variable, carrier.rows))
    if known is None:
        known = inspect(units, carrier.variable, carrier.kind, True, "", carrier.rows).edits
    anew = [*lifted, *(span for edit in others if isinstance(edit, ReplaceCall) for span, _ in edit.arguments)]
    return tuple(edit for edit in known if not any(_within(edit.span, span) for span in anew))


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.begin <= inner.begin and inner.end <= outer.end


class _Refused(Exception):
    def __init__(self, reason: Reason, message: str, *notes: tuple[Span, str]) -> None:
        super().__init__(message)
        self.refusal = Refusal(reason, message, notes)


class _Inspector:
    def __init__(self, index: Index, key: str, kind: str, complete: bool, root: str, rows: int) -> None:
        self.index = index
        self.texts = index.texts
        self.key = key
        self.array = kind == "array"
        self.complete = complete
        self.root = root.rstrip("/")
        self.rows = rows
        self.declarations = index.declarations_of(key)
        self.mentions = index.by_key.get(key, [])
        self.constant: tuple[ReplaceText, ...] = ()

    def run(self) -> Inspection:
        edits: list[ReplaceText] = []
        has_initialiser = any(v.init is not None for _, v in self.declarations)
        try:
            self.visibility()
            self.constant = self.constants()
            self.declaration()
            self.other_text()
            edits += self.constant
            for mention in self.mentions:
                edit = self.mention(mention)
                if edit is not None and edit not in edits:
                    self.not_shown(edit.span)
                    edits.append(edit)
        except _Refused as refused:
            return Inspection(refused.refusal, (), has_initialiser)
        return Inspection(None, tuple(edits), has_initialiser)

    @property
    def variable(self) -> ast.Variable:
        return self.declarations[0][1]

    @property
    def name(self) -> str:
        return self.variable.name

    # --- who can see it ------------------------------------------------------------------------------------------

    def visibility(self) -> None:
        if not self.declarations:
            raise _Refused(Reason.OUTSIDE, f"`{self.key}` is declared in none of the files given")
        var = self.variable
        here = (var.span, "declared here")
        if var.kind == "extern":
            if not self.complete:
                seen = f"other files can see `{self.name}`, and main is not among those given"
                if any("main" in unit.functions for unit in self.index.units):  # a part of a program, by itself
                    seen = f"all of the program can see `{self.name}`, and is not followed as a whole"
                raise _Refused(Reason.OUTSIDE, seen, here)
            if not any(d.definition or d.tentative for _, v in self.declarations for d in v.declarators):
                raise _Refused(Reason.OUTSIDE, f"`{self.name}` is defined in a file that was not given", here)
        for unit in self.visible_in():
            for path in sorted(unit.files):
                at = self.texts.in_directive(path, self.name)
                if at is not None and (var.is_global or self.inside(self.place(path, at))):
                    note = (self.place(path, at), "here")
                    raise _Refused(Reason.OUTSIDE, f"{self.texts.kind_of(path, at)} names `{self.name}`", note)
        self.refused_functions()

    def visible_in(self) -> Iterator[ast.Unit]:
        seen: set[str] = set()
        for unit, _ in self.declarations:
            if unit.path not in seen:
                seen.add(unit.path)
                yield unit

    def inside(self, span: Span) -> bool:
        """For a local variable: whether the place is in its function."""
        if self.variable.kind in ("extern", "static"):
            return True
        for unit, var in self.declarations:
            function = unit.functions.get(var.function)
            if function is not None:
                whole = function.span
                return span.file == whole.file and whole.begin <= span.begin < whole.end
        return True

    def refused_functions(self) -> None:
        for unit in self.visible_in():
            for function in unit.functions.values():
                if not function.refused:
                    continue
                if self.variable.kind not in ("extern", "static") and function.key != self.variable.function:
                    continue
                span = function.span
                for at, _, _ in self.texts.occurrences(span.file, self.name):
                    if span.begin <= at < span.end:
                        concurrent = "OpenMP" in function.refused
                        note = (self.place(span.file, at), "used here")
                        message = f"`{self.name}` is used in `{function.name}`, which is not analysed"
                        raise _Refused(
                            Reason.CONCURRENT if concurrent else Reason.NOT_ANALYSED,
                            f"{message}: {function.refused}",
                            note,
                        )

    def place(self, path: str, at: int) -> Span:
        data = self.texts.read(path)
        line = data.count(b"\n", 0, at) + 1
        return Span(path, at, at, line, at - data.rfind(b"\n", 0, at), editable=False)

    # --- how it is declared --------------------------------------------------------------------------------------

    def declaration(self) -> None:
        types = []
        for _, var in self.declarations:
            here = (var.span, "declared here")
            if var.type.volatile or var.type.atomic:
                raise _Refused(Reason.VOLATILE, f"`{self.name}` is volatile or _Atomic", here)
            if var.thread_local:
                raise _Refused(Reason.DECLARATION, f"`{self.name}` is thread-local", here)
            if var.type.const and (self.array or var.kind != "local" or not self.constant):
                raise _Refused(Reason.DECLARATION, f"`{self.name}` is const", here)
            if var.attributes:  # of a macro: the text does not show them
                raise _Refused(Reason.DECLARATION, f"the declaration of `{self.name}` has attributes", here)
            if self.array and var.alignment > ALIGNMENT:
                aligned = f"`{self.name}` is aligned to {var.alignment} bytes by its type"
                raise _Refused(Reason.DECLARATION, f"{aligned}, and a taken buffer to {ALIGNMENT}", here)
            if var.kind == "param":
                raise _Refused(Reason.CARRIER, f"`{self.name}` is a parameter, a copy of the caller's pointer", here)
            if var.type.kind != self.variable.type.kind:
                raise _Refused(Reason.DECLARATION, f"`{self.name}` is declared differently in two files", here)
            if var.type.kind not in ("array", "pointer") or (self.array and not var.type.is_array):
                raise _Refused(Reason.DECLARATION, f"`{self.name}` is neither an array nor a pointer", here)
            if self.array and (var.type.vla or (var.type.size is None and var.type.count is not None)):
                self.variable_length(var)
            if var.type.size is not None:
                types.append((var.type, here))
            for d in var.declarators:
                self.declarator(var, d)
            if not var.declarators:
                message = f"the declaration of `{self.name}` is written by a macro, or in a system header"
                raise _Refused(Reason.MACRO, message, here)
        for other, here in types[1:]:
            first = types[0][0]
            if (other.size, other.count, other.elem and other.elem.size) != (
                first.size,
                first.count,
                first.elem and first.elem.size,
            ):
                raise _Refused(
                    Reason.DECLARATION, f"`{self.name}` is declared differently in two files", types[0][1], here
                )
        if self.array and not types and not self.variable.type.vla:
            raise _Refused(
                Reason.DECLARATION, f"the size of `{self.name}` is not known", (self.variable.span, "declared here")
            )

    def constants(self) -> tuple[ReplaceText, ...]:
        """``const`` in ``double *const b``, which goes: the pointer is set.  Nothing where it is not written so."""
        edits: list[ReplaceText] = []
        for d in (d for _, var in self.declarations if var.type.const for d in var.declarators):
            data = self.texts.read(d.span.file)
            found = _CONST.search(data[d.span.begin : d.name_span.begin])
            if found is None or not d.name_span.editable or not d.statement.editable:
                return ()
            begin, end = (d.span.begin + at for at in found.span(1))
            edits.append(ReplaceText(replace(d.span, begin=begin, end=end), ""))
        return tuple(edits)

    def variable_length(self, var: ast.Variable) -> None:
        """Its size is kept in a variable beside it; who asks for it by its name would get the pointer's."""
        asked = [m.ref.span for m in self.mentions if m.size is not None]
        if asked or var.type.elem is None or self.rows or var.kind != "local":
            message = f"`{self.name}` is an array of variable length; a pointer to malloc'ed memory would do"
            note = (asked[0], "its size is asked for here") if asked else (var.span, "declared here")
            raise _Refused(Reason.DECLARATION, message, note)

    def declarator(self, var: ast.Variable, d: ast.Declarator) -> None:
        here = (d.name_span, "declared here")
        data = self.texts.read(d.span.file)
        if d.storage == "register" or _UNTOUCHABLE.search(d.specifiers.encode("utf-8", "surrogateescape")):
            raise _Refused(
                Reason.DECLARATION, f"the declaration of `{self.name}` has specifiers that cannot stay", here
            )
        if _UNTOUCHABLE.search(data, d.span.begin, d.init_span.begin if d.init_span is not None else d.span.end):
            raise _Refused(Reason.DECLARATION, f"the declaration of `{self.name}` has attributes", here)
        if not self.array:
            return
        if not d.name_span.editable or not d.statement.editable:
            raise _Refused(Reason.MACRO, f"the declaration of `{self.name}` is written by a macro", here)
        self.editable_file(d.name_span)
        if d.suffix is None or len(_dimensions(data[d.suffix.begin : d.suffix.end])) <= self.rows:
            message = f"the array type of `{self.name}` is hidden behind a typedef; dimensions written out would do"
            raise _Refused(Reason.DECLARATION, message, here)
        if b"__COUNTER__" in self.texts.macros.written(data[d.suffix.begin : d.suffix.end]):
            raise _Refused(Reason.DECLARATION, f"the dimensions of `{self.name}` are counted by `__COUNTER__`", here)
        if not d.suffix.editable:
            raise _Refused(Reason.MACRO, f"the dimensions of `{self.name}` are written by a macro", here)

    def editable_file(self, span: Span) -> None:
        if self.root and not span.file.startswith(self.root + "/"):
            raise _Refused(Reason.OUTSIDE, "the edit would be in a file outside the sources' root", (span, "here"))

    # --- where it is mentioned -----------------------------------------------------------------------------------

    def other_text(self) -> None:
        """Mentions that are no expressions of the program: array dimensions, constant expressions, typeof."""
        message = f"a constant expression or a type depends on the array type of `{self.name}`"
        for e in (e for unit in self.index.units for e in unit.type_mentions if self.array and e.var == self.key):
            raise _Refused(Reason.DECLARATION, message, (e.span, "here"))
        known = self.index.known.get(self.name, set())
        for unit in self.visible_in():
            for path in sorted(unit.files):
                for at, unevaluated, bracketed in self.texts.occurrences(path, self.name):
                    if (path, at) in known or not (unevaluated or bracketed):
                        continue
                    place = self.place(path, at)
                    if self.array and self.inside(place):
                        raise _Refused(Reason.DECLARATION, message, (place, "here"))

    def mention(self, m: Mention) -> ReplaceText | None:
        """What one mention asks for; raises when it cannot be had."""
        here = (m.ref.span, f"`{self.name}` is mentioned here")
        if m.function == "" and not m.unevaluated and self.variable.is_global:
            raise _Refused(Reason.OLD_ADDRESS, f"a static initialiser holds the address of `{self.name}`", here)
        if not self.array:
            return None
        if m.size is not None and m.size.operand is not None:
            operand = m.size.operand
            whole = operand is m.ref
            row = self.rows > 0 and isinstance(operand, (ast.Index, ast.Deref)) and m.parent is operand
            if whole or (row and operand.type.is_array):
                if whole and not self.rows and not m.size.span.editable:
                    return self.macro_argument(m.ref, m.size)
                return self.sizeof(m.size, 0 if whole else 1)
            return None
        if isinstance(m.parent, ast.AddrOf):
            if not self.rows and _any_pointer(m.parent, m.outer) and m.parent.span.editable:
                at = m.parent.span
                if self.texts.read(at.file)[at.begin : at.begin + 1] == b"&":
                    self.editable_file(at)
                    return ReplaceText(replace(at, end=at.begin + 1), "")
            raise _Refused(Reason.DECLARATION, f"`&{self.name}`, a pointer to the whole array, is used", here)
        if self.rows and not (isinstance(m.parent, ast.Index) and m.parent.base is m.ref):
            raise _Refused(Reason.DECLARATION, f"the rows of `{self.name}` are used as one array", here)
        if self.rows and isinstance(m.outer, ast.AddrOf) and m.outer.operand is m.parent and m.parent.type.is_array:
            raise _Refused(Reason.DECLARATION, f"`&{self.name}[…]`, a pointer to a whole row, is used", here)
        return None

    def sizeof(self, e: ast.SizeOf, skip: int) -> ReplaceText | None:
        here = (e.span, "its size is asked for here")
        data = self.texts.read(e.span.file)
        written = data[e.span.begin : e.span.end]
        if not e.span.editable or not written.startswith(b"sizeof"):
            message = f"a macro asks for the size of `{self.name}`, which would become that of a pointer"
            raise _Refused(Reason.MACRO, message, here)
        self.editable_file(e.span)
        spelling = self.spell(skip, self.locals_of(e))
        if spelling is None:
            raise _Refused(Reason.DECLARATION, f"the type of `{self.name}` cannot be spelt in a sizeof", here)
        return ReplaceText(e.span, f"sizeof({spelling})")

    def macro_argument(self, ref: ast.VarRef, e: ast.SizeOf) -> ReplaceText | None:
        """``COUNT(buf)``, a macro that asks for sizes: its argument becomes what the pointer points to, as an array.

        That has the array's size and, where the macro also uses its value, its elements.
        """
        spelling = self.spell(0, self.locals_of(e))
        written = self.texts.read(ref.span.file)[ref.span.begin : ref.span.end]
        if spelling is None or "[" not in spelling or written != self.name.encode() or self.shown(e.span):
            return self.sizeof(e, 0)
        self.editable_file(ref.span)
        at = spelling.index("[")
        pointer = f"{spelling[:at].rstrip()} (*){spelling[at:]}"
        return ReplaceText(replace(ref.span, editable=True), f"(*({pointer}){self.name})")

    def not_shown(self, at: Span) -> None:
        """Text that an edit changes is given to no macro that has it printed, say."""
        if self.texts.shows(self.texts.given_to(at.file, at.begin)):
            message = f"a macro makes a text of what would be written otherwise for `{self.name}`"
            raise _Refused(Reason.MACRO, message, (at, "here"))

    def shown(self, use: Span) -> bool:
        """A macro of a use, or one that these are made of, turns what it is given into text, or pastes it."""
        return self.texts.shows(_WORD.findall(self.texts.read(use.file)[use.begin : use.end]))

    def locals_of(self, e: ast.SizeOf) -> set[str]:
        """Names that the function around a sizeof declares: they may hide what a dimension is made of; and those of
        macros that change."""
        for unit in self.index.units:
            for function in unit.functions.values():
                span = function.span
                if span.file == e.span.file and span.begin <= e.span.begin < span.end:
                    own = {v.name for v in function.variables.values()}
                    return own | self.index.unsteady | {name.removeprefix("struct ") for name in function.declares}
        return set(self.index.unsteady)

    def spell(self, skip: int, hidden: set[str]) -> str | None:
        """The array's type as its declaration writes it, without the first ``skip`` dimensions."""
        found = [(v, d) for _, v in self.declarations for d in v.declarators if d.suffix is not None]
        for counted in (False, True):  # `buf[]` is completed by the number of elements where nothing else tells it
            for var, d in found:
                spelling = _spelling(self.texts, var, d, skip, hidden, counted)
                if spelling is not None:
                    return spelling
        return None


def _any_pointer(e: ast.Expr, outer: ast.Expr | None) -> bool:
    """An address becomes one of ``void``, or is cast to one of elements, whatever it was of."""
    if isinstance(outer, ast.Cast) and outer.type.is_pointer:
        to = outer.type.elem
        return to is not None and not (to.is_array or to.is_pointer or to.kind == "function")
    if not isinstance(outer, ast.Call):
        return False
    function = outer.callee.type if not outer.callee.type.is_pointer else outer.callee.type.elem
    params = function.params if function is not None else None
    given = [p for p, a in zip(params or (), outer.args, strict=False) if a is e]
    return bool(given) and all(p.is_pointer and p.elem is not None and p.elem.kind == "void" for p in given)


def _spelling(
    texts: Texts, var: ast.Variable, d: ast.Declarator, skip: int, hidden: set[str], counted: bool
) -> str | None:
    """One declaration's type, when it can be written in a sizeof."""
    data = texts.read(d.span.file)
    assert d.suffix is not None
    prefix = data[d.span.begin : d.name_span.begin].strip()
    dimensions = _dimensions(data[d.suffix.begin : d.suffix.end])
    if counted and dimensions and not dimensions[0].strip() and var.type.count is not None:
        dimensions[0] = str(var.type.count).encode()
    if counted and not hidden.isdisjoint(_NAME.findall(b" ".join(dimensions).decode("utf-8", "replace"))):
        dimensions = [str(n).encode() for n in _counts(var.type)]
    text = b"".join(b"[" + x + b"]" for x in dimensions[skip:])
    names = set(_NAME.findall(_SIZE_OF_TYPE.sub("", text.decode("utf-8", "replace"))))
    base = _specifiers(d.specifiers)
    bad = names & (hidden | {"sizeof", "__COUNTER__", "__LINE__"})
    if base is None or bad or not dimensions or not all(x.strip() for x in dimensions):
        return None
    if not hidden.isdisjoint(_NAME.findall(base)):
        return None
    if prefix.strip(b"* \t\r\n"):
        return None
    stars = (b" " + prefix if prefix else b"").decode("ascii")
    return f"{base}{stars}{text.decode('utf-8', 'surrogateescape')}"


def _dimensions(suffix: bytes) -> list[bytes]:
    """What stands between each pair of brackets; none when the suffix is more than brackets."""
    found: list[bytes] = []
    at = skip_space(suffix, 0)
    while at < len(suffix):
        end = closing(suffix, at) if suffix[at : at + 1] == b"[" else None
        if end is None:
            return []
        found.append(suffix[at + 1 : end - 1])
        at = skip_space(suffix, end)
    return found


def _counts(type_: Type | None) -> list[int]:
    """The numbers of elements of an array's dimensions, as far as they are known."""
    out: list[int] = []
    while type_ is not None and type_.is_array and type_.count is not None:
        out.append(type_.count)
        type_ = type_.elem
    return out


def _specifiers(written: str) -> str | None:
    """The type part of declaration specifiers; None for one that declares a type of its own."""
    if any(c in written for c in "{}/#"):
        return None
    storage = {"static", "extern", "auto", "register", "inline", "const"}
    return " ".join(w for w in written.split() if w not in storage) or None
