"""Functions and macros around calls and loops."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast, walk
from tests.machines.spell.rules.memory import file_scope
from tests.machines.spell.source import (
    MESSAGES,
    SENDS,
    Change,
    Place,
    Source,
    Spot,
    changed,
    decayed,
    declared,
    has_effect,
    jumps,
)
from tests.machines.spell.table import rewriting

PARAMETERS = {
    "send": ("void *buf", "int n", "MPI_Datatype type", "int to", "int tag", "MPI_Comm comm"),
    "recv": ("void *buf", "int n", "MPI_Datatype type", "int from", "int tag", "MPI_Comm comm", "MPI_Status *status"),
}
BLOCKING = {**dict.fromkeys(("MPI_Send", "MPI_Ssend"), "send"), "MPI_Recv": "recv"}


def _blocking(s: Source) -> Iterator[tuple[Spot, ast.Call, str, tuple[str, ...]]]:
    """Sends and receives with the name of their function, and the parameters of such a function."""
    for spot, call in s.calls(*BLOCKING):
        assert isinstance(call.callee, ast.FuncRef)
        yield spot, call, call.callee.name, PARAMETERS[BLOCKING[call.callee.name]]


@rewriting("helpers")
def call_in_function(s: Source) -> Iterator[Change]:
    """A send or receive moves into a function of its own, with all arguments as parameters."""
    for spot, call, function, parameters in _blocking(s):
        name = s.unused("transfer")
        names = ", ".join(p.split()[-1].lstrip("*") for p in parameters)
        head = f"static void {name}({', '.join(parameters)})"
        helper = f"{head}\n{{\n    {s.mark(call)}{function}({names});\n}}"
        args = ", ".join(s.text(arg) for arg in call.args)
        yield (s.above(spot.function, helper), s.edit(spot.stmt, f"{name}({args});"))


@rewriting("helpers")
def call_in_typed_function(s: Source) -> Iterator[Change]:
    """A send or receive moves into a function that gets the buffer, how many and whose, and knows the rest."""
    for spot, call, function, _ in _blocking(s):
        kept = [0, 1, 3]
        rest = [arg for n, arg in enumerate(call.args) if n not in kept]
        buffer = declared(decayed(call.args[0].type), "buf")
        plain = all(isinstance(arg, (ast.IntLit, ast.MacroConst)) for arg in rest)
        if buffer and "void" not in buffer and plain:
            name = s.unused("transfer")
            words = [s.text(arg) for arg in call.args]
            words[0], words[1], words[3] = "buf", "n", "other"
            text = f"static void {name}({buffer}, int n, int other)\n{{\n    {s.mark(call)}{function}"
            helper = f"{text}({', '.join(words)});\n}}"
            args = ", ".join(s.text(call.args[n]) for n in kept)
            yield (s.above(spot.function, helper), s.edit(spot.stmt, f"{name}({args});"))


@rewriting("helpers")
def call_result_through_function(s: Source) -> Iterator[Change]:
    """A send or receive moves into a function that gives its result back."""
    for spot, call, function, parameters in _blocking(s):
        name = s.unused("transfer")
        names = ", ".join(p.split()[-1].lstrip("*") for p in parameters)
        helper = f"static int {name}({', '.join(parameters)})\n{{\n    return {s.mark(call)}{function}({names});\n}}"
        args = ", ".join(s.text(arg) for arg in call.args)
        yield (s.above(spot.function, helper), s.edit(spot.stmt, f"{name}({args});"))


@rewriting("helpers")
def call_in_macro(s: Source) -> Iterator[Change]:
    """A send or receive becomes a macro with the buffer, how many and whose."""
    for spot, call, function, _ in _blocking(s):
        rest = [arg for n, arg in enumerate(call.args) if n not in (0, 1, 3)]
        if all(isinstance(arg, (ast.IntLit, ast.MacroConst)) for arg in rest):
            name, words = s.unused("TRANSFER"), [s.text(arg) for arg in call.args]
            given = ", ".join(words[n] for n in (0, 1, 3))
            words[0], words[1], words[3] = "(b)", "(n)", "(other)"
            macro = f"#define {name}(b, n, other) {function}({', '.join(words)})"
            yield (s.above(spot.function, macro), s.edit(spot.stmt, f"{name}({given});"))


@rewriting("helpers")
def name_in_macro(s: Source) -> Iterator[Change]:
    """The function that sends becomes a macro for its name."""
    for spot, call in s.calls(*SENDS, "MPI_Recv", "MPI_Irecv"):
        name = s.unused("TRANSFER")
        yield (s.above(spot.function, f"#define {name} {s.text(call.callee_span)}"), s.edit(call.callee_span, name))


@rewriting("helpers")
def loop_in_function(s: Source) -> Iterator[Change]:
    """A loop that sends nothing moves into a function; what it uses are parameters."""
    for spot in s.of(ast.For):
        if "MPI_" in s.text(spot.stmt) or jumps(spot.stmt, ast.Return, ast.Goto, ast.Label):
            continue
        found = _moved(s, spot)
        if found:
            yield found


def _moved(s: Source, spot: Spot) -> Change | None:
    """A statement in a function of its own, where the variables that it changes are its own or memory."""
    inside: set[str] = set()
    for stmt, _ in walk.statements(spot.stmt):
        if isinstance(stmt, ast.DeclStmt):
            inside |= set(stmt.variables)
    written = changed(spot.stmt, spot.function)
    refs = [e for e in walk.within_statement(spot.stmt, spot.function.variables) if isinstance(e, ast.VarRef)]
    parameters, arguments = [], []
    for key in sorted({e.var for e in refs} - inside):
        variable = s.variables[key]
        if key in written and not variable.type.is_array:
            return None
        declaration = declared(decayed(variable.type), variable.name)
        if not declaration or variable.thread_local or variable.type.kind == "record":
            return None
        parameters.append(declaration)
        arguments.append(variable.name)
    if any(isinstance(e, ast.SizeOf) for e in walk.within_statement(spot.stmt, spot.function.variables)):
        return None
    if len(set(arguments)) < len(arguments) or any("#" in line for line in s.text(spot.stmt).splitlines()):
        return None
    name = s.unused("step")
    helper = f"static void {name}({', '.join(parameters) or 'void'})\n{{\n    {s.text(spot.stmt)}\n}}"
    return (s.above(spot.function, helper), s.edit(spot.stmt, f"{name}({', '.join(arguments)});"))


@rewriting("helpers")
def loop_on_globals_in_function(s: Source) -> Iterator[Change]:
    """A loop that uses only globals and its own variables moves into a function without parameters."""
    for spot in s.of(ast.For):
        inside: set[str] = set()
        for stmt, _ in walk.statements(spot.stmt):
            if isinstance(stmt, ast.DeclStmt):
                inside |= set(stmt.variables)
        refs = [e for e in walk.within_statement(spot.stmt, spot.function.variables) if isinstance(e, ast.VarRef)]
        others = {e.var for e in refs} - inside
        if not all(s.variables[key].kind in ("static", "extern") for key in others) or not inside:
            continue
        if not jumps(spot.stmt, ast.Return, ast.Goto, ast.Label) and "MPI_" not in s.text(spot.stmt):
            name = s.unused("step")
            helper = f"static void {name}(void)\n{{\n    {s.text(spot.stmt)}\n}}"
            yield (s.above(spot.function, helper), s.edit(spot.stmt, f"{name}();"))


@rewriting("helpers")
def element_in_macro(s: Source) -> Iterator[Change]:
    """``a[i]`` becomes a macro with the array and the subscript."""
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.Index) and s.may_edit(e.base, e.index) and e.base.span.end <= e.index.span.begin:
            name = s.unused("AT")
            first = s.above(place.spot.function, f"#define {name}(a, i) ((a)[(i)])")
            yield (first, s.edit(e, f"{name}({s.text(e.base)}, {s.text(e.index)})"))


@rewriting("helpers")
def buffer_in_macro(s: Source) -> Iterator[Change]:
    """The buffer of a message becomes a macro."""
    for spot, call in s.calls(*MESSAGES):
        name = s.unused("BUFFER")
        if isinstance(call.args[0], (ast.VarRef, ast.Member)):
            first = s.above(spot.function, f"#define {name} {s.text(call.args[0])}")
            yield (first, s.edit(call.args[0], name))


@rewriting("helpers")
def call_with_struct(s: Source) -> Iterator[Change]:
    """A send or receive moves into a function that gets the buffer, and all numbers in a struct by its address."""
    for spot, call, function, parameters in _blocking(s):
        kind, name, given = s.unused("envelope"), s.unused("transfer"), s.unused("with")
        if has_effect(*call.args[1:]):
            continue
        members = [p.replace("*", "").split()[-1] for p in parameters[1:6]]
        record = f"struct {kind} {{ {' '.join(f'{p};' for p in parameters[1:6])} }};"
        last = [s.text(arg) for arg in call.args[6:]]
        if any(word != "MPI_STATUS_IGNORE" for word in last):
            continue
        words = ", ".join(["buf", *(f"with->{member}" for member in members), *last])
        head = f"static void {name}(void *buf, const struct {kind} *with)"
        helper = f"{record}\n\n{head}\n{{\n    {s.mark(call)}{function}({words});\n}}"
        values = ", ".join(s.text(arg) for arg in call.args[1:6])
        use = f"{name}({s.text(call.args[0])}, &{given});"
        yield (s.above(spot.function, helper), s.braced(spot, f"struct {kind} {given} = {{ {values} }};", use))


def _elements(s: Source) -> Iterator[tuple[Place, ast.Index, str]]:
    """Numbers of arrays, with the array as a parameter ``a``."""
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.Index) and e.type.spelling in ("double", "int") and s.may_edit(e.base, e.index):
            written = e.base.span.end <= e.index.span.begin and e.index.type.kind == "int"
            if written and isinstance(e.base, (ast.VarRef, ast.Member)) and not has_effect(e.base):
                yield place, e, e.type.spelling


@rewriting("helpers")
def element_by_function(s: Source) -> Iterator[Change]:
    """``a[i]``, where it is read, becomes the call of a small function."""
    for place, e, type_ in _elements(s):
        if place.is_read and not isinstance(place.parent, ast.Call):
            name = s.unused("get")
            helper = f"static inline {type_} {name}(const {type_} *a, long i)\n{{\n    return a[i];\n}}"
            yield (s.above(place.spot.function, helper), s.edit(e, f"{name}({s.text(e.base)}, {s.text(e.index)})"))


@rewriting("helpers")
def element_set_by_function(s: Source) -> Iterator[Change]:
    """``a[i] = e;`` becomes the call of a small function."""
    for place, e, type_ in _elements(s):
        match place.spot.stmt, place.parent:
            case ast.ExprStmt(expr=root), ast.Assign(op="", target=target, value=value) as assign if (
                target is e and assign is root and s.may_edit(value) and not place.spot.in_head
            ):
                name = s.unused("put")
                helper = f"static inline void {name}({type_} *a, long i, {type_} x)\n{{\n    a[i] = x;\n}}"
                args = f"{s.text(e.base)}, {s.text(e.index)}, {s.text(value)}"
                yield (s.above(place.spot.function, helper), s.edit(assign, f"{name}({args})"))
            case _:
                pass


@rewriting("helpers")
def buffer_in_given_struct(s: Source) -> Iterator[Change]:
    """A variable at file level becomes a member of a static struct, whose address a function gets that sends it."""
    found = list(_blocking(s))
    for variable, one, uses in file_scope(s):
        declaration = declared(variable.type, variable.name)
        plain = one.alone and declaration and not variable.type.const and variable.type.size
        for spot, call, function, parameters in found if plain else ():
            inside = [p for p in uses if p.spot.stmt is spot.stmt]
            whole = len(inside) == 1 and inside[0].expr is call.args[0]
            if not whole or s.file(call.span) != s.file(one.span):
                continue
            record, home, name = s.unused("halo"), s.unused("home"), s.unused("transfer")
            own = f"struct {record} {{ int unused; {declaration}; }};\nstatic struct {record} {home};"
            names = ", ".join(p.split()[-1].lstrip("*") for p in parameters[1:])
            head = f"static void {name}(struct {record} *h, {', '.join(parameters[1:])})"
            helper = f"{head}\n{{\n    {s.mark(call)}{function}(h->{variable.name}, {names});\n}}"
            given = ", ".join([f"&{home}", *(s.text(arg) for arg in call.args[1:])])
            others = [s.edit(p.expr, f"{home}.{variable.name}") for p in uses if p is not inside[0]]
            send = s.edit(spot.stmt, f"{name}({given});")
            yield (s.edit(one.statement, own), s.above(spot.function, helper), send, *others)
