"""What the words of a text mean where it is put: names that a function declares anew, names that are still free."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import expressions
from opi_xform.once import once, once_each
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.mentions import Texts, in_scope, walk

_QUIET = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|\b__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)",
    re.DOTALL,
)
_TAG = re.compile(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)")
_PART = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)((?:\\\r?\n|[^\n])*)", re.MULTILINE)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_SAID = re.compile(r"\w+")
_PLAIN_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_END = 1 << 40  # after the end of any file
_ENUM = re.compile(r"\benum\b[^;{]*\{[^}]*\}")
_TYPEDEF = re.compile(r"\btypedef\b")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(([^()]*)\)")
_DECLARES = frozenset({"typedef", "enum", "struct", "union"})
_FUNCTION = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_BRACKETS = re.compile(r"\[[^][]*\]")
PASTED = "##"  # among the words that macros make: they make names that stand nowhere
_RECORD = re.compile(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)\s*[{;]")


def words(text: str) -> set[str]:
    """The names that a text of C is made of: members of structs are left out, tags are ``struct x``."""
    text = _QUIET.sub(" ", text)
    tags = {f"struct {name}" for name in _TAG.findall(text)}
    return tags | set(_WORD.findall(_PART.sub(" ", _TAG.sub(" ", text))))


def declared(text: str) -> set[str]:
    """What declarators may declare beside variables: functions, tags, and the numbers of an enum."""
    numbers = set(_WORD.findall(" ".join(re.findall(r"\{[^}]*\}", text))))
    functions = set(_FUNCTION.findall(_BRACKETS.sub(" ", text))) - {"sizeof"}
    return numbers | functions | {f"struct {name}" for name in _RECORD.findall(text)}


@once
def _macros(program: Program) -> Mapping[str, frozenset[str]]:
    """The words of the definitions of each macro of the program's own files."""
    texts, out = Texts(), dict[str, set[str]]()
    for path in program.files:
        for name, body in _DEFINE.findall(texts.of(Span(path, 0, _END, 1, 1))):
            out.setdefault(name, set()).update(words(body), {PASTED} if PASTED in body else ())
    return {name: frozenset(found) for name, found in out.items()}


def expanded(program: Program, found: Iterable[str]) -> set[str]:
    """These words, and those that macros make of them."""
    macros, out = _macros(program), set[str]()
    work = list(found)
    while work:
        word = work.pop()
        if word not in out:
            out.add(word)
            work.extend(macros.get(word, ()))
    return out


def has_macro(program: Program, text: str) -> bool:
    """A word of the text is a macro of the program's own files."""
    return any(word in _macros(program) for word in _WORD.findall(text))


@once
def _bodies(program: Program) -> Mapping[str, tuple[str, ...]]:
    """The definitions of each macro of the program's own files, as text."""
    texts, out = Texts(), dict[str, list[str]]()
    for path in program.files:
        for name, body in _DEFINE.findall(texts.of(Span(path, 0, _END, 1, 1))):
            out.setdefault(name, []).append(body)
    return {name: tuple(found) for name, found in out.items()}


def may_fall_apart(program: Program, text: str) -> bool:
    """What stands beside a constant may come between its parts: it is no number, and no macro that is one or stands in
    parentheses.
    """
    bodies, seen, work = _bodies(program), set[str](), [text]
    while work:
        written = _QUIET.sub(" ", work.pop()).strip()
        if _PLAIN_NUMBER.fullmatch(written.rstrip("uUlL")) or _enclosed(written):
            continue
        if written not in bodies:
            return True
        work.extend(bodies[written] if written not in seen else ())
        seen.add(written)
    return False


def _enclosed(text: str) -> bool:
    """One pair of parentheses holds all of it."""
    depth, ends = 0, []
    for at, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            ends.append(at)
    return text[:1] == "(" and ends[:1] == [len(text) - 1]


def written_as_int(program: Program, text: str) -> bool:
    """A constant is made of numbers without suffix that fit an ``int``, also by macros: so its type is ``int``."""
    bodies, seen, work = _bodies(program), set[str](), [text]
    while work:
        for token in _TOKEN.findall(_QUIET.sub(" ", work.pop())):
            if _PLAIN_NUMBER.fullmatch(token):
                if int(token, 16 if token[:2] in ("0x", "0X") else 8 if token[0] == "0" else 10) >= 1 << 31:
                    return False
            elif token in bodies:
                work.extend(bodies[token] if token not in seen else ())
                seen.add(token)
            elif token not in "()+-*/%":
                return False
    return True


@once_each
def declared_by_macros(program: Program, span: Span) -> frozenset[str]:
    """The words that a function gives to macros that declare something, and what they declare there by themselves."""
    out: set[str] = set()
    for function in program.functions.values():
        if function.span == span:
            out |= unwritten(function, Texts())
    for name, given in _CALL.findall(_QUIET.sub(" ", Texts().of(span))):
        if name in _macros(program):
            made = expanded(program, [name])
            if made & _DECLARES or any(word.startswith("struct ") for word in made):
                out |= {tag for word in _WORD.findall(given) for tag in (word, f"struct {word}")}
    return frozenset(out)


def unwritten(function: ast.Function, texts: Texts) -> frozenset[str]:
    """What a function declares beside variables in other words than its own: by macros, or in what it includes."""
    if not function.declares:
        return frozenset()
    written = _QUIET.sub(" ", texts.of(function.span))
    own = set(_WORD.findall(" ".join((*_ENUM.findall(written), *_typedefs(written)))))
    own |= {f"struct {name}" for name in _RECORD.findall(written)}
    return function.declares - own


def _typedefs(text: str) -> Iterator[str]:
    """Each typedef, to the semicolon after all its braces."""
    for found in _TYPEDEF.finditer(text):
        depth, at = 0, found.end()
        while at < len(text) and (depth or text[at] != ";"):
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
        yield text[found.start() : at]


def hidden(
    lowered: ins.Lowered, stmt: int, texts: Texts, meant: Collection[str] = (), origin: Span | None = None
) -> Iterator[str]:
    """Names that mean something of the function's own at one of its statements.

    meant: variables (keys) that the text is about.  origin: where it was written; what the function declares before
    that is known there as well.
    """
    for variable in lowered.function.variables.values():
        if variable.key not in meant and in_scope(lowered, variable, stmt):
            yield variable.name
    yield from unwritten(lowered.function, texts)
    span = lowered.function.span
    here = origin is not None and origin.file == span.file and span.begin <= origin.begin < span.end
    between = texts.of(span)
    if here and origin is not None and origin.end <= lowered.stmts[stmt].stmt.span.begin:
        between = texts.of(Span(span.file, origin.end, lowered.stmts[stmt].stmt.span.begin, 1, 1))
    if "typedef" in between or "enum" in between or "struct" in between or "union" in between:
        between = _QUIET.sub(" ", between)
        for declared in (*_ENUM.findall(between), *_typedefs(between)):
            yield from _WORD.findall(declared)
        for tag in _RECORD.findall(between):
            yield f"struct {tag}"


def means_function(function: ast.Function, name: str, texts: Texts) -> bool:
    """Wherever a name stands in a function's text it is that of a function: of no type or constant declared there."""
    return _means(function, name, texts, lambda x: isinstance(x, ast.FuncRef), ())


def means_variable(
    program: Program, function: ast.Function, variable: ast.Variable, texts: Texts, aside: Iterable[Span] = ()
) -> bool:
    """Wherever a variable's name stands in a function it is the variable's, also in what macros make there; and no
    macro has that name.

    aside: stretches of text that do not count.
    """
    if any(v.name == variable.name and v.key != variable.key for v in function.variables.values()):
        return False
    declared = [d.name_span for d in variable.declarators] or [variable.span]
    here = {span.begin - function.span.begin for span in declared if span.file == function.span.file}
    for span in aside:
        if span.file == function.span.file and function.span.begin <= span.begin < function.span.end:
            here.update(range(span.begin - function.span.begin, span.end - function.span.begin))
    mine = _means(function, variable.name, texts, lambda x: isinstance(x, ast.VarRef) and x.var == variable.key, here)
    return mine and variable.name not in _macros(program)


def means_type(program: Program, lowered: ins.Lowered, spelling: str, texts: Texts) -> bool:
    """Wherever it stands in a function, a type is that of the file: the function declares none of its words anew."""
    function = lowered.function
    own = {*hidden(lowered, len(lowered.stmts) - 1, texts), *(v.name for v in function.variables.values())}
    own |= {*declared_by_macros(program, function.span), *_macros(program)}
    return own.isdisjoint(words(spelling)) and own.isdisjoint(_WORD.findall(spelling))


def _means(
    function: ast.Function, name: str, texts: Texts, wanted: Callable[[ast.Expr], bool], more: Collection[int]
) -> bool:
    whole = texts.of(function.span).encode("utf-8", "surrogateescape").decode("latin-1")  # a byte is a character
    quiet = _QUIET.sub(lambda found: " " * len(found[0]), whole)
    inits = (v.init for v in function.variables.values() if v.init is not None)
    parts = (x for e in (*expressions(function.body), *inits) for x in walk(e))
    known = {x.span.begin - function.span.begin for x in parts if wanted(x)} | set(more)
    places = [m.start() for m in re.finditer(rf"\b{name}\b", quiet)]
    return all(at in known or quiet[:at].rstrip().endswith((".", "->")) for at in places)


def fresh(name: str, program: Program) -> str:
    """The name, or one like it, that no file says anything of: no variable, type, constant or macro; nor has a macro
    pasted it together for a variable or a function.
    """
    while name in names_in(program) or name in _said_in(program):
        name = f"opi_{name}"
    return name


@once
def _said_in(program: Program) -> frozenset[str]:
    """All words of all files, those of comments too."""
    texts = Texts()
    return frozenset(word for path in program.files for word in _SAID.findall(texts.of(Span(path, 0, _END, 1, 1))))


@once
def names_in(program: Program) -> frozenset[str]:
    """The names of all variables and functions, also of those that stand in no text since `##` makes them."""
    functions = program.functions.values()
    inner = {v.name for f in functions for v in f.variables.values()}
    return frozenset({v.name for v in program.variables.values()} | {f.name for f in functions} | inner)


def pieces(written: str) -> int:
    """How many arguments ``(a, b)…`` would give a macro: only parentheses hold a comma together, and what macros make
    of an argument comes later."""
    depth, found = 0, 1
    for c in _QUIET.sub(" ", written):
        if c in "()":
            depth += 1 if c == "(" else -1
            if depth == 0:
                break
        found += c == "," and depth == 1
    return found
