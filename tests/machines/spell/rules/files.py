"""Text that moves to other files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.source import Change, Edit, Source, declared
from tests.machines.spell.table import rewriting


def _head(s: Source, file: str) -> int:
    """Where the first function of a file begins."""
    return min((f.span.begin for f in s.functions if s.file(f.span) == file), default=0)


@rewriting("files")
def head_in_header(s: Source) -> Iterator[Change]:
    """What stands above the first function moves to a header."""
    for file in s.sources:
        end = _head(s, file)
        name = f"{s.unused('head')}.h"
        if end and len(s.sources) == 1 and "#if" not in s.texts[file][:end]:
            yield (Edit(file, 0, end, f'#include "{name}"\n\n'), Edit(name, 0, 0, s.texts[file][:end]))


@rewriting("files")
def functions_in_header(s: Source) -> Iterator[Change]:
    """What stands above ``main`` moves to a header."""
    for function in s.functions:
        file = s.file(function.span)
        if function.name == "main" and len(s.sources) == 1:
            end, name = function.span.begin, f"{s.unused('parts')}.h"
            if "#if" not in s.texts[file][:end]:
                yield (Edit(file, 0, end, f'#include "{name}"\n\n'), Edit(name, 0, 0, s.texts[file][:end]))


@rewriting("files")
def function_in_other_file(s: Source) -> Iterator[Change]:
    """A function moves to a file of its own; what it uses is declared ``extern`` there."""
    if len(s.sources) != 1:
        return
    file = s.sources[0]
    head = s.texts[file][: _head(s, file)]
    types = _only_types(s, head)
    for function in s.functions:
        if function.name == "main" or types is None or s.file(function.span) != file:
            continue
        keys = {p.expr.var for p in s.places if p.spot.function is function and isinstance(p.expr, ast.VarRef)}
        used = [s.variables[key] for key in sorted(keys) if s.variables[key].kind in ("static", "extern")]
        called = {p.expr.name for p in s.places if p.spot.function is function and isinstance(p.expr, ast.FuncRef)}
        others = {f.key for f in s.functions} & called
        externs = [f"extern {declared(v.type, v.name)};" for v in used]
        if others or any(line == "extern ;" for line in externs) or any(len(v.declarators) != 1 for v in used):
            continue
        if _made_here(s, function, len(head)) or _macros_here(s, function, len(head)):
            continue
        if re.search(rf"\bstatic\b[^;{{}}]*\b{function.name}\s*\(", s.texts[file][: function.span.begin]):
            continue  # declared before, and then it is still of this file alone
        if any(v.kind == "local-static" for v in function.variables.values()) or any(v.type.const for v in used):
            continue
        begin, body = function.span.begin, function.body.span.begin
        prototype = s.texts[file][begin:body].removeprefix("static ").removeprefix("inline ").strip()
        moved = prototype + "\n" + s.text(function.body)
        name = f"{s.unused('part')}.c"
        text = "\n".join([types, *externs, "", moved, ""])
        statics = {v.declarators[0].statement.begin: v.declarators[0].statement for v in used}
        changes = [
            Edit(file, at, at + len("static "), "")
            for at, statement in statics.items()
            if s.text(statement).startswith("static ")
        ]
        yield (s.edit(function.span, f"{prototype};"), *changes, Edit(name, 0, 0, text))


def _only_types(s: Source, head: str) -> str | None:
    """The lines above the first function without the declarations of variables, where these stand alone."""
    out = head
    statements = {
        (one.statement.begin, one.statement.end)
        for variable in s.variables.values()
        for one in variable.declarators
        if variable.kind in ("static", "extern") and one.statement.end <= len(head)
    }
    for begin, end in sorted(statements, reverse=True):
        if "{" in head[begin:end]:
            return None
        out = out[:begin] + out[end:]
    return re.sub(r"/\*@\d+\*/", "", out)


def _made_here(s: Source, function: ast.Function, head: int) -> bool:
    """A function names a struct that is declared after the head of its file."""
    words = set(re.findall(r"\bstruct\s+(\w+)", s.text(function.span)))
    return bool(words & set(re.findall(r"\bstruct\s+(\w+)\s*\{", s.texts[s.file(function.span)][head:])))


def _macros_here(s: Source, function: ast.Function, head: int) -> bool:
    """A function names a macro that is defined after the head of its file: another file does not have it."""
    words = set(re.findall(r"\w+", s.text(function.span)))
    return bool(words & set(re.findall(r"^\s*#\s*define\s+(\w+)", s.texts[s.file(function.span)][head:], re.MULTILINE)))


@rewriting("files")
def prototype_above(s: Source) -> Iterator[Change]:
    """A function is declared at the top, in front of all functions."""
    for function in s.functions:
        file = s.file(function.span)
        if function.name != "main" and file in s.sources:
            prototype = s.texts[file][function.span.begin : function.body.span.begin].strip()
            head = _head(s, file)
            if "(" in prototype and "#" not in prototype and not _made_here(s, function, head):
                yield (Edit(file, head, head, f"{prototype};\n\n"),)


@rewriting("files")
def function_not_static(s: Source) -> Iterator[Change]:
    """``static`` goes from a function."""
    for function in s.functions:
        begin, text = function.span.begin, s.text(function.span)
        if text.startswith("static ") and not text.startswith("static inline") and len(s.sources) == 1:
            yield (Edit(s.file(function.span), begin, begin + len("static "), ""),)


@rewriting("files")
def function_inline(s: Source) -> Iterator[Change]:
    """``static`` of a function becomes ``static inline``."""
    for function in s.functions:
        if s.text(function.span).startswith("static ") and not s.text(function.span).startswith("static inline"):
            at = function.span.begin + len("static ")
            yield (Edit(s.file(function.span), at, at, "inline "),)
