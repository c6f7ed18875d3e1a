"""Declarations that are split or joined, types under other names, and variables under other names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from opi_xform.ir import ast, walk
from tests.machines.spell.rules.memory import _words
from tests.machines.spell.source import SENDS, Change, Edit, Place, Source, calls_own, changed, decayed, declared
from tests.machines.spell.table import rewriting


def _declared_here(s: Source) -> Iterator[tuple[ast.Variable, ast.Declarator]]:
    """Variables with one declaration, all of it written there, without what ``for`` declares and a pragma names."""
    loops = {id(spot.stmt.init) for spot in s.all_spots if isinstance(spot.stmt, ast.For)}
    heads = {spot.stmt.span.begin for spot in s.all_spots if id(spot.stmt) in loops}
    for variable in s.variables.values():
        if len(variable.declarators) == 1:
            one = variable.declarators[0]
            if not s.may_edit(one.statement, one.span, one.name_span) or one.statement.begin in heads:
                continue
            if not s.in_pragma(s.file(one.span), variable.name):
                yield variable, one


@rewriting("declarations")
def declaration_split(s: Source) -> Iterator[Change]:
    """``double *a, *b;`` becomes ``double *a; double *b;``."""
    groups: dict[tuple[str, int], list[ast.Declarator]] = {}
    for _, one in _declared_here(s):
        groups.setdefault((one.statement.file, one.statement.begin), []).append(one)
    for ones in groups.values():
        ones.sort(key=lambda one: one.span.begin)
        plain = "struct" not in ones[0].specifiers or "{" not in ones[0].specifiers
        if len(ones) > 1 and ones[0].first and plain and s.text(ones[0].statement).count(",") >= len(ones) - 1:
            yield (s.edit(ones[0].statement, " ".join(f"{one.specifiers} {s.text(one.span)};" for one in ones)),)


@rewriting("declarations")
def declarations_joined(s: Source) -> Iterator[Change]:
    """``double *a; double *b;`` become ``double *a, *b;``."""
    found = sorted((one for _, one in _declared_here(s)), key=lambda one: (one.statement.file, one.statement.begin))
    for first, second in itertools.pairwise(found):
        if first.alone and second.alone and first.specifiers == second.specifiers and "{" not in first.specifiers:
            gap = s.texts[s.file(first.statement)][first.statement.end : second.statement.begin]
            if first.statement.file == second.statement.file and not gap.strip():
                new = f"{first.specifiers} {s.text(first.span)}, {s.text(second.span)};"
                at = s.file(first.statement)
                yield (Edit(at, first.statement.begin, second.statement.end, new),)


@rewriting("declarations")
def initialiser_as_assignment(s: Source) -> Iterator[Change]:
    """``int n = e;`` becomes ``int n; n = e;``."""
    for variable, one in _declared_here(s):
        declaration = declared(variable.type, variable.name)
        simple = variable.kind == "local" and variable.type.is_scalar and not variable.type.const
        if simple and declaration and one.alone and one.init_span and s.may_edit(one.init_span):
            mark = s.mark(variable.init) if variable.init is not None else ""
            yield (s.edit(one.statement, f"{declaration}; {variable.name} = {mark}{s.text(one.init_span)};"),)


@rewriting("declarations")
def assignment_as_initialiser(s: Source) -> Iterator[Change]:
    """``int n; n = e;`` becomes ``int n = e;``."""
    for spot in s.of(ast.DeclStmt):
        assert isinstance(spot.stmt, ast.DeclStmt)
        following = spot.following
        if len(spot.stmt.variables) != 1 or not following:
            continue
        key = spot.stmt.variables[0]
        match following[0]:
            case ast.ExprStmt(expr=ast.Assign(op="", target=ast.VarRef(var=var), value=value)) as after if var == key:
                variable = s.variables[key]
                if variable.init is None and variable.kind == "local" and s.may_edit(after, value):
                    text = s.text(spot.stmt).rstrip("; ")
                    yield (s.edit(spot.stmt, f"{text} = {s.text(value)};"), s.edit(after, ""))
            case _:
                pass


@rewriting("declarations")
def declared_at_the_top(s: Source) -> Iterator[Change]:
    """A local without an initialiser is declared at the beginning of its function."""
    for variable, one in _declared_here(s):
        function = next((f for f in s.functions if f.key == variable.function), None)
        if function is None or variable.kind != "local" or one.init_span or not one.alone or variable.type.vla:
            continue
        others = [v for v in function.variables.values() if v.name == variable.name]
        if len(others) == 1 and "vla" not in variable.type.spelling:
            body = function.body.span
            first = Edit(s.file(body), body.begin + 1, body.begin + 1, " " + s.text(one.statement))
            yield (first, s.edit(one.statement, ""))


def _named(s: Source, variable: ast.Variable, one: ast.Declarator, definition: str) -> Change:
    """A type at file level, in front of what declares the variable."""
    function = next((f for f in s.functions if f.key == variable.function), None)
    return (s.above(function, definition),) if function else (s.before(one.statement, f"{definition}\n"),)


@rewriting("typedefs")
def element_type_named(s: Source) -> Iterator[Change]:
    """The ``double`` of a declaration becomes a ``typedef``."""
    for variable, one in _declared_here(s):
        words = one.specifiers.split()
        if words and words[-1] in ("double", "int") and one.first:
            name, text = s.unused("number"), s.text(one.statement)
            at = text.find(words[-1])
            new = f"{text[:at]}{name}{text[at + len(words[-1]) :]}"
            yield (*_named(s, variable, one, f"typedef {words[-1]} {name};"), s.edit(one.statement, new))


@rewriting("typedefs")
def pointer_type_named(s: Source) -> Iterator[Change]:
    """The type of a declared pointer becomes a ``typedef``."""
    for variable, one in _declared_here(s):
        if variable.type.is_pointer and one.alone and not variable.type.const and one.specifiers:
            name = s.unused("pointer")
            old, storage = declared(variable.type, name), "static " if one.specifiers.startswith("static ") else ""
            if old and "extern" not in one.specifiers:
                init = f" = {s.text(one.init_span)}" if one.init_span else ""
                new = f"{storage}{name} {variable.name}{init};"
                yield (*_named(s, variable, one, f"typedef {old};"), s.edit(one.statement, new))


@rewriting("typedefs")
def struct_named(s: Source) -> Iterator[Change]:
    """``struct s`` of a declaration becomes a ``typedef``."""
    for variable, one in _declared_here(s):
        words = one.specifiers.split()
        if len(words) >= 2 and words[-2] == "struct" and one.first:
            name, text = s.unused("record"), s.text(one.statement)
            old = f"struct {words[-1]}"
            if text.count(old) == 1:
                yield (
                    *_named(s, variable, one, f"typedef {old} {name};"),
                    s.edit(one.statement, text.replace(old, name)),
                )


@rewriting("declarations")
def constant_added(s: Source) -> Iterator[Change]:
    """A local that nothing changes becomes ``const``."""
    for variable, one in _declared_here(s):
        function = next((f for f in s.functions if f.key == variable.function), None)
        if function is None or variable.kind != "local" or not one.alone or variable.type.kind not in ("int", "float"):
            continue
        if one.init_span and variable.key not in changed(function.body, function) and not variable.type.const:
            yield (s.before(one.statement, "const "),)


@rewriting("declarations")
def parameter_as_array(s: Source) -> Iterator[Change]:
    """The parameter ``double *to`` of a function becomes ``double to[]``."""
    for function in s.functions:
        for key in function.params:
            variable = function.variables[key]
            old = declared(variable.type, variable.name)
            head = s.texts[s.file(function.span)][function.span.begin : function.body.span.begin]
            elem = variable.type.elem
            if variable.type.is_pointer and elem is not None and elem.is_scalar and head.count(old) == 1 and elem.size:
                at = function.span.begin + head.index(old)
                new = declared(elem, variable.name) + "[]"
                if function.name != "main":
                    yield (Edit(s.file(function.span), at, at + len(old), new),)


@rewriting("declarations")
def renamed(s: Source) -> Iterator[Change]:
    """A variable gets another name."""
    for variable, one in _declared_here(s):
        file = s.file(one.span)
        refs = [p.expr for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == variable.key]
        if len(s.sources) == 1 and len(refs) == _words(s.texts[file], variable.name) - 1:
            name = s.unused("name")
            yield (s.edit(one.name_span, name), *(s.edit(ref, name) for ref in refs))


@rewriting("declarations")
def extern_declared(s: Source) -> Iterator[Change]:
    """A variable at file level that is not ``static`` is declared ``extern`` before."""
    for variable, one in _declared_here(s):
        declaration = declared(variable.type, variable.name)
        if variable.kind == "extern" and declaration and one.alone and one.definition and not one.storage:
            yield (s.before(one.statement, f"extern {declaration};\n"),)


@rewriting("declarations")
def pair_in_struct(s: Source) -> Iterator[Change]:
    """A local number becomes the member of a local struct."""
    for variable, one in _declared_here(s):
        refs = [p.expr for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == variable.key]
        function = next((f for f in s.functions if f.key == variable.function), None)
        if function is None or variable.kind != "local" or not one.alone or not variable.type.is_scalar:
            continue
        at = one.statement
        if any(ref.span.file == at.file and at.begin <= ref.span.begin < at.end for ref in refs):
            continue
        declaration = declared(decayed(variable.type), variable.name)
        inner = s.texts[s.file(function.span)][function.span.begin : function.span.end]
        if declaration and not variable.type.const and _words(inner, variable.name) == len(refs) + 1:
            name = s.unused("own")
            init = f" {name}.{variable.name} = {s.text(one.init_span)};" if one.init_span else ""
            first = f"struct {{ {declaration}; int unused; }} {name};{init}"
            yield (s.edit(one.statement, first), *(s.edit(ref, f"{name}.{variable.name}") for ref in refs))


def declared_together(s: Source, type_: str) -> Iterator[tuple[list[ast.Variable], list[Place]]]:
    """Locals of a type without initialisers that one declaration declares, it and nothing else, with all their uses."""
    groups: dict[tuple[str, int], list[tuple[ast.Variable, ast.Declarator]]] = {}
    for variable, one in _declared_here(s):
        if variable.kind == "local" and one.specifiers.strip() == type_:
            groups.setdefault((one.statement.file, one.statement.begin), []).append((variable, one))
    for found in groups.values():
        found.sort(key=lambda pair: pair[1].span.begin)
        keys = {variable.key: variable for variable, _ in found}
        uses = [p for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var in keys]
        function = next((f for f in s.functions if f.key == found[0][0].function), None)
        commas = s.text(found[0][1].statement).count(",")
        if function is None or commas != len(found) - 1 or any(one.init_span for _, one in found):
            continue
        inner = s.texts[s.file(function.span)][function.span.begin : function.span.end]
        plain = all(variable.type.is_scalar and not variable.type.is_pointer for variable in keys.values())
        if plain and sum(_words(inner, variable.name) for variable in keys.values()) == len(uses) + len(found):
            yield list(keys.values()), uses


@rewriting("declarations")
def rank_in_global(s: Source) -> Iterator[Change]:
    """The locals of ``main`` beside the one that ``MPI_Comm_rank`` sets, and it, become static variables."""
    asked = {e.var for _, call in s.calls("MPI_Comm_rank") for e in walk.within(call) if isinstance(e, ast.VarRef)}
    for found, uses in declared_together(s, "int"):
        function = next(f for f in s.functions if f.key == found[0].function)
        if function.name == "main" and any(variable.key in asked for variable in found):
            names = {variable.key: s.unused(variable.name) for variable in found}
            first = s.above(function, f"static int {', '.join(names.values())};")
            edits = [(p.expr, names[p.expr.var]) for p in uses if isinstance(p.expr, ast.VarRef)]
            yield (first, s.edit(found[0].declarators[0].statement, ""), *(s.edit(e, name) for e, name in edits))


@rewriting("declarations")
def declared_in_block(s: Source) -> Iterator[Change]:
    """Numbers that one block of a function uses alone, whose address nobody takes, are declared in that block."""
    for type_ in ("int", "double", "long"):
        for found, uses in declared_together(s, type_):
            function = next(f for f in s.functions if f.key == found[0].function)
            blocks = {_block_in(p.spot.above, function) for p in uses}
            if len(blocks) != 1 or not (block := blocks.pop()) or any(isinstance(p.parent, ast.AddrOf) for p in uses):
                continue
            at, end = block
            statement = found[0].declarators[0].statement
            if s.may_edit(statement) and not at <= statement.begin < end:
                first = Edit(s.file(statement), at + 1, at + 1, " " + s.text(statement))
                yield (first, s.edit(statement, ""))


def _block_in(above: Sequence[ast.Stmt], function: ast.Function) -> tuple[int, int] | None:
    """Where the outermost block inside the body of a function begins and ends, which no loop goes round."""
    for outer, inner in itertools.pairwise(reversed(above)):
        if isinstance(inner, ast.Block) and (outer is function.body or isinstance(outer, ast.If)):
            return inner.span.begin, inner.span.end
        if not isinstance(inner, ast.If):
            break
    return None


Given = tuple[ast.Function, ast.Variable, Edit, list[Place]]
"""A function, a parameter of it, the edit that writes its declaration anew with ``{}`` in it, and its uses."""


def _given_pointers(s: Source, form: str) -> Iterator[Given]:
    """Parameters ``double *p`` of functions whose head says so once; ``form`` is the new one."""
    for function in s.functions:
        head = s.texts[s.file(function.span)][function.span.begin : function.body.span.begin]
        for key in function.params:
            variable = function.variables[key]
            elem, old = variable.type.elem, declared(variable.type, variable.name)
            plain = variable.type.is_pointer and not variable.type.const and elem is not None and elem.is_scalar
            declares = len(re.findall(rf"\b{re.escape(old)}(?!\w)", head)) == 1 if old else False
            if plain and elem is not None and not elem.is_pointer and not elem.const and declares:
                at = function.span.begin + head.index(old)
                new = form.format(elem=elem.spelling, name=variable.name)
                uses = [p for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == key]
                inner = s.text(function.body)
                if len(uses) == _words(inner, variable.name) and uses:
                    yield function, variable, Edit(s.file(function.span), at, at + len(old), new), uses


def _has_prototype(s: Source, function: ast.Function) -> bool:
    """Its name stands before its definition."""
    found = re.search(rf"\b{function.name}\b", s.texts[s.file(function.span)])
    return found is None or found.start() < function.span.begin


@rewriting("declarations")
def parameter_restrict(s: Source) -> Iterator[Change]:
    """The parameter ``double *p``, the only way to memory of its function, becomes ``double *restrict p``."""
    for function, variable, edit, _ in _given_pointers(s, "{elem} *restrict {name}"):
        body = function.body
        pointers = {
            e.var
            for e in walk.within_statement(body, function.variables)
            if isinstance(e, ast.VarRef) and (not e.type.is_scalar or e.type.is_pointer)
        }
        if pointers == {variable.key} and variable.key not in changed(body, function) and not calls_own(body, function):
            yield (edit,)


@rewriting("declarations")
def parameter_to_constants(s: Source) -> Iterator[Change]:
    """The parameter ``double *p`` of a static function that only reads and sends becomes ``const double *p``."""
    for function, _, edit, uses in _given_pointers(s, "const {elem} *{name}"):
        if function.static and not _has_prototype(s, function) and all(_only_read(place) for place in uses):
            yield (edit,)


def _only_read(place: Place) -> bool:
    """Of ``p``: it is in ``p[i]``, which is read, or it is what a send sends."""
    match place.above[:2]:
        case (ast.Index(base=base), *more) if base is place.expr:
            return not (more and isinstance(more[0], (ast.AddrOf, ast.IncDec))) and not (
                more and isinstance(more[0], ast.Assign) and more[0].target is place.above[0]
            )
        case (ast.Call(callee=ast.FuncRef(name=name), args=args), *_):
            return name in SENDS and args[0] is place.expr
        case _:
            return False
