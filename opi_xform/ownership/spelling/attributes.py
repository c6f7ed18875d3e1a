"""What no name in the source shows: attributes that have a function run by itself, or give a symbol another name.

``constructor`` and ``destructor`` functions run before and after main, ``cleanup`` functions when a variable's scope
ends, entries of the sections ``.init_array`` and ``.fini_array`` like the first two.  An ``ifunc`` or an ``alias`` of
a function gives it a second name, and so does ``double g(void) __asm__("f")``.  Calls of a ``weak`` function may run
another one.  The program graph has no such calls, so no site of a program with one converts.  An ``alias`` of an object
is a second variable to it that is the same memory: what is stored in one is found in the other, and it has no such
variables either.  What assembly outside of functions makes is not seen at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from opi_xform.ir import ast
from opi_xform.ir.link_guard import in_guard
from opi_xform.ir.span import Span
from opi_xform.ownership.spelling.mentioned import mentions_of

_WORDS = rb"(?:__)?(constructor|destructor|cleanup|ifunc|alias|weakref|weak)(?:__)?"
_ATTRIBUTE = re.compile(
    rb"\b__attribute(?:__)?\s*\(\s*\((?:[^;{}]*?[\s,(])??" + _WORDS + rb"\s*[,()]"
    rb"|\[\[[^\];]*\b(?:__)?gnu(?:__)?::\s*" + _WORDS + rb"\b"
    rb"|\"\.((?:init|fini|preinit)_array|[cd]tors)[.\"0-9]"
    rb"|^[ \t]*#[ \t]*pragma[ \t]+(init|fini|weak)\b",
    re.MULTILINE,
)
_SIGNS = (b"asm", b"__attribute", b"[[", b"_array", b"tors", b"pragma")  # a text without any of these has no such call
_LABEL = re.compile(rb"\b(?:__)?asm(?:__)?\s*\(((?:\s*(?:\w+|\"[\w.$]*\"))+)\s*\)")
_ASSEMBLY = rb"(?:__)?asm(?:__)?(?:\s+(?:__)?volatile(?:__)?)?"
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.)*)", re.MULTILINE | re.DOTALL)
_LINES = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)  # of the preprocessor
_STRING = re.compile(rb"\"([^\"]*)\"")
_TEXT = re.compile(rb"//(?:[^\n\\]|\\.)*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)


_MEANING = {
    "weak": "another definition may replace a function that is `weak`",
    "assembly": "`asm` outside of functions may make code and names that nothing shows",
    **dict.fromkeys(("alias", "weakref", "ifunc", "asm"), "`{}` gives a function or object a name that nothing shows"),
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
    assembly = _assembly(list(map(texts.read, paths)))
    for path in paths:
        data = texts.read(path)
        at = _outside(data, assembly)
        if at is not None:
            return _span(path, data, at), "assembly"
        if not any(word in data for word in _SIGNS) or (b"asm" not in data and not _ATTRIBUTE.search(data)):
            continue
        code = _TEXT.sub(_blank, data)
        for label in _LABEL.finditer(code):
            if in_guard(code, label.start()):
                continue
            if _is_named(_STRING.findall(label.group(1)), _STRING.sub(b"", label.group(1)), map(texts.read, paths)):
                return _span(path, data, label.start()), "asm"
        for found in _ATTRIBUTE.finditer(code):
            word = next(group for group in found.groups() if group is not None)
            return _span(path, data, found.start()), word.decode("ascii")
    return None


def _assembly(texts: Sequence[bytes]) -> re.Pattern[bytes] | None:
    """What assembly begins with: its own word, or a macro in whose body that stands; None: there is none."""
    if not any(b"asm" in text for text in texts):
        return None
    bodies: dict[bytes, set[bytes]] = {}
    for text in texts:
        for name, body in _MACRO.findall(text):
            bodies.setdefault(name, set()).update(re.findall(rb"\w+", body))
    words, new = set[bytes](), {b"asm", b"__asm", b"__asm__"}
    while new:
        words |= new
        new = {name for name, body in bodies.items() if name not in words and not words.isdisjoint(body)}
    names = b"|".join(sorted(map(re.escape, words - {b"asm", b"__asm", b"__asm__"})))
    return re.compile(rb"\b(?:" + _ASSEMBLY + (b"|" + names if names else b"") + rb")\s*\(")


def _outside(data: bytes, assembly: re.Pattern[bytes] | None) -> int | None:
    """Where assembly stands outside of all functions, and is no other name of what is declared before it."""
    if assembly is None or not assembly.search(data):
        return None
    plain = _LINES.sub(_blanked, _TEXT.sub(_blanked, data))
    balanced = plain.count(b"{") == plain.count(b"}")  # else branches of an `#if` open a block twice
    for found in assembly.finditer(plain):
        before = plain[: found.start()]
        inside = balanced and before.count(b"{") != before.count(b"}")
        if before.rstrip()[-1:] in (b"", b";", b"}") and not inside:
            return found.start()
    return None


def _blanked(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match.group())


def _is_named(parts: Sequence[bytes], macros: bytes, texts: Iterable[bytes]) -> bool:
    """A label that some name of the program has, perhaps without its first underscore, or that a macro makes."""
    label = b"".join(parts)
    if macros.strip() or not label:
        return True
    name = re.compile(rb"(?<![\w\"])_?" + re.escape(label.removeprefix(b"_")) + rb"(?![\w\"])")
    return any(name.search(text) for text in texts)


def _span(path: str, data: bytes, at: int) -> Span:
    return Span(path, at, at, data.count(b"\n", 0, at) + 1, at - data.rfind(b"\n", 0, at), editable=False)


def _blank(match: re.Match[bytes]) -> bytes:
    """Comments become blanks of the same length; strings stay, for the names of sections."""
    return _blanked(match) if match.group().startswith(b"/") else match.group()
