"""What no name in the source shows: attributes that have a function run by itself, or give a symbol another name.

``constructor`` and ``destructor`` functions run before and after main, ``cleanup`` functions when a variable's scope
ends, entries of the sections ``.init_array`` and ``.fini_array`` like the first two.  An ``ifunc`` or an ``alias`` of
a function gives it a second name, and so does ``double g(void) __asm__("f")``.  Calls of a ``weak`` function may run
another one.  The program graph has no such calls, so no site of a program with one converts.  An ``alias`` of an object
is a second variable to it that is the same memory: what is stored in one is found in the other, and it has no such
variables either.  What assembly outside of functions makes is not seen at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from opi_xform.ir import ast
from opi_xform.ir.link_guard import in_guard
from opi_xform.ir.span import Span
from opi_xform.ownership.spelling.mentioned import mentions_of
from opi_xform.text.macros import BRACKETS, TEXT, Macros, blanked, opening, without_comments

_WORDS = rb"(?:__)?(constructor|destructor|cleanup|ifunc|alias|weakref|weak)(?:__)?"
_NAMED = re.compile(rb"\b" + _WORDS + rb"\b")
_SECTIONS = re.compile(rb"\.((?:init|fini|preinit)_array|[cd]tors)(?![a-z_])")
_PADDED = re.compile(rb"_*\s*##\s*(\w+)\s*##\s*_*")  # `__##name##__`, a word with other ends
_PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(init|fini|weak|redefine_extname)\b", re.MULTILINE)
_OPERATOR = re.compile(rb"[(\"]\s*(init|fini|weak|redefine_extname)\b")  # in what `_Pragma` is given
_ATTRIBUTES, _PRAGMAS = (b"__attribute", b"__attribute__"), (b"_Pragma",)
_ASM = (b"asm", b"__asm", b"__asm__")
_LABEL = re.compile(rb"\b(?:__)?asm(?:__)?\s*\(((?:\s*(?:\w+|\"[\w.$]*\"))+)\s*\)")
_ASSEMBLY = rb"(?:__)?asm(?:__)?(?:\s+(?:__)?volatile(?:__)?)?"
_LINES = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)  # of the preprocessor
_CXX = re.compile(  # the braces of `extern "C"`, which C does not see
    rb"^[ \t]*#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t]*\(?[ \t]*)__cplusplus\b.*\n"
    rb"((?:(?![ \t]*#).*\n)*)[ \t]*#[ \t]*endif",
    re.MULTILINE,
)
_OPEN = re.compile(rb"\bextern\s*\{")  # its text is blank
_STRING = re.compile(rb"\"([^\"]*)\"")


_WRAPPER = "__wrap_"  # what the linker's option calls in place of the function of which the rest is the name
_TRACERS = frozenset({"__cyg_profile_func_enter", "__cyg_profile_func_exit"})  # of -finstrument-functions
_MEANING = {
    "attribute": "an attribute whose name a macro pastes may have functions run that nothing is seen to call",
    "trace": "the compiler may call a function that traces, at each call of another one",
    "wrap": "the linker's `--wrap` may have the program call a function that nothing is seen to call",
    "weak": "another definition may replace a function that is `weak`",
    "assembly": "`asm` outside of functions may make code and names that nothing shows",
    **dict.fromkeys(
        ("alias", "weakref", "ifunc", "asm", "redefine_extname"),
        "`{}` gives a function or object a name that nothing shows",
    ),
}


def unseen_call(units: Sequence[ast.Unit]) -> tuple[Span, str] | None:
    """The first place that makes such calls, and what it does; None when there is none."""
    found = _first(units)
    if found is None:
        return None
    default = "`{}` makes the program run functions that nothing is seen to call"
    return found[0], _MEANING.get(found[1], default).format(found[1])


def _first(units: Sequence[ast.Unit]) -> tuple[Span, str] | None:
    texts = mentions_of(units).texts
    paths = sorted({path for unit in units for path in unit.files})
    for unit in units:
        for key, function in sorted(unit.functions.items()):
            if key.startswith(_WRAPPER) or key in _TRACERS:
                return function.span, "trace" if key in _TRACERS else "wrap"
    flags = {unit.path: os.fsencode("".join(unit.defined)) for unit in units}
    data = {path: texts.read(path) for path in paths}
    unseen = _Unseen(texts.macros, tuple(data.values()))
    for path in paths:
        found = unseen.first(without_comments(data[path]))
        if found is not None:
            return _span(path, data[path], found[0]), found[1]
    for path, text in sorted(flags.items()):
        found = unseen.first(text)
        if found is not None:
            return _span(path, data[path], 0), found[1]
    return None


class _Unseen:
    """What to look for in the texts of one program."""

    def __init__(self, macros: Macros, texts: Sequence[bytes]) -> None:
        self.macros, self.texts = macros, texts
        self.attributes, self.pragmas = macros.around(_ATTRIBUTES), macros.around(_PRAGMAS)
        self.assembly = macros.naming(_ASM)
        self.begins = re.compile(
            rb"\b(?:" + b"|".join((_ASSEMBLY, *map(re.escape, sorted(self.assembly)))) + rb")\s*\("
        )

    def first(self, code: bytes) -> tuple[int, str] | None:
        """Where it stands in one text, and what it is."""
        at = self.outside(code)
        if at is not None:
            return at, "assembly"
        for label in _LABEL.finditer(code):
            if in_guard(code, label.start()):
                continue
            if _is_named(_STRING.findall(label.group(1)), _STRING.sub(b"", label.group(1)), self.texts):
                return label.start(), "asm"
        found = next(self.attributed(code), None) or _PRAGMA.search(code)
        if isinstance(found, re.Match):
            return found.start(), found.group(1).decode("ascii")
        return found

    def attributed(self, code: bytes) -> Iterator[tuple[int, str]]:
        """Attributes and pragmas, also those that macros write around what they are given."""
        groups = [(g.begin, g.text) for g in self.macros.groups(code, self.attributes) if not in_guard(code, g.begin)]
        groups += [(found.start(), self.macros.written(found.group())) for found in BRACKETS.finditer(code)]
        for begin, text in groups:
            plain = _PADDED.sub(rb"\1", _STRING.sub(b"", text))
            word = _NAMED.search(plain) or _SECTIONS.search(re.sub(rb"[\s\"]", b"", text))
            if word is not None:
                yield begin, word.group(1).decode("ascii")
            elif b"##" in plain:
                yield begin, "attribute"
        for group in self.macros.groups(code, self.pragmas):
            word = _OPERATOR.search(group.text)
            if word is not None:
                yield group.begin, word.group(1).decode("ascii")

    def outside(self, code: bytes) -> int | None:
        """Where assembly stands outside of all functions, and is no other name of what is declared before it."""
        if not self.begins.search(code):
            return None
        plain = TEXT.sub(blanked, _CXX.sub(blanked, code))
        plain = _LINES.sub(blanked, plain)
        closed = plain.count(b"{") == plain.count(b"}")  # else branches of an `#if` open a block twice
        balanced = closed and not _OPEN.search(plain)
        for found in self.begins.finditer(plain):
            before = plain[: found.start()].rstrip()
            inside = balanced and before.count(b"{") != before.count(b"}")
            if not inside and (before[-1:] in (b"", b";", b"}") or self.ended(before)):
                return found.start()
        return None

    def ended(self, before: bytes) -> bool:
        """A text ends with a macro, which may end a declaration, or with `__extension__`."""
        if before.endswith(b")"):
            before = before[: opening(before, len(before))].rstrip()
        word = re.search(rb"\w+\Z", before)
        return word is not None and (word.group() == b"__extension__" or word.group() in self.macros.bodies)


def _is_named(parts: Sequence[bytes], macros: bytes, texts: Iterable[bytes]) -> bool:
    """A label that some name of the program has, perhaps without its first underscore, or that a macro makes."""
    label = b"".join(parts)
    if macros.strip() or not label:
        return True
    name = re.compile(rb"(?<![\w\"])_?" + re.escape(label.removeprefix(b"_")) + rb"(?![\w\"])")
    return any(name.search(text) for text in texts)


def _span(path: str, data: bytes, at: int) -> Span:
    return Span(path, at, at, data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at), editable=False)
