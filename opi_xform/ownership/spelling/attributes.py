"""What no name in the source shows: attributes that have a function run by itself, or give a symbol another name.

``constructor`` and ``destructor`` functions run before and after main, ``cleanup`` functions when a variable's scope
ends, entries of the sections ``.init_array`` and ``.fini_array`` like the first two.  An ``ifunc`` or an ``alias`` of
a function gives it a second name, and so does ``double g(void) __asm__("f")``.  Calls of a ``weak`` function may run
another one.  The program graph has no such calls, so no site of a program with one converts.  An ``alias`` of an object
is a second variable to it that is the same memory: what is stored in one is found in the other, and it has no such
variables either.  What assembly outside of functions makes is not seen at all.  The parser tells where each of them is
(``frontend/lower/attributes.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opi_xform.frontend.lower.attributes import ASSEMBLY, FLAG, LABEL, PRAGMA, RENAMED, UNKNOWN
from opi_xform.ir import ast
from opi_xform.ir.span import Span

_WRAPPER = "__wrap_"  # what the linker's option calls in place of the function of which the rest is the name
_TRACERS = ("__cyg_profile_func_", "__sanitizer_cov_")
"""How the names begin of what compilers call by themselves (-finstrument-functions, -fsanitize-coverage)."""
_COUNTERS = frozenset({"__fentry__", "mcount", "_mcount", "__mcount"})  # the same, of -pg
_MEANING = {
    UNKNOWN: "an attribute that could not be read may have functions run that nothing is seen to call",
    PRAGMA: "a pragma gives a function or object an attribute, which may have other code run than is seen",
    "trace": "the compiler may call a function that traces, at each call of another one",
    "wrap": "the linker's `--wrap` may have the program call a function that nothing is seen to call",
    "weak": "another definition may replace a function that is `weak`",
    ASSEMBLY: "`asm` outside of functions may make code and names that nothing shows",
    FLAG: "the flag `{}` may have the linker make another program than the text shows",
    **dict.fromkeys(
        ("alias", "weakref", "ifunc", LABEL, RENAMED), "`{}` gives a function or object a name that nothing shows"
    ),
}


def unseen_call(units: Sequence[ast.Unit]) -> tuple[Span, str] | None:
    """The first place that makes such calls, and what it does; None when there is none."""
    found = next(_found(units), None)
    if found is None:
        return None
    span, kind, told = found
    default = "`{}` makes the program run functions that nothing is seen to call"
    return span, _MEANING.get(kind, default).format(told)


def _found(units: Sequence[ast.Unit]) -> Iterator[tuple[Span, str, str]]:
    """The places, each with what it is and the word that is said of it."""
    for unit in units:
        for key, function in sorted(unit.functions.items()):
            if key.startswith((_WRAPPER, *_TRACERS)) or key in _COUNTERS:
                yield function.span, "wrap" if key.startswith(_WRAPPER) else "trace", key
    named: dict[str, str] = {}  # what the linker knows by a name -> what the text does
    for unit in units:
        own = (*(f.name for f in unit.functions.values()), *(v.name for v in unit.globals.values()))
        named.update((name, name) for name in (*own, *unit.declared))
    for one in sorted((u for unit in units for u in unit.unseen), key=lambda u: (u.span.file, u.span.begin, u.word)):
        if one.word not in (LABEL, RENAMED):
            yield one.span, one.word, one.symbol or one.word
        elif any(named.setdefault(name, one.name) != one.name for name in (one.symbol, one.symbol.removeprefix("_"))):
            yield one.span, one.word, one.word
