"""Allocation in other forms and other homes of buffers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.source import Change, Place, Source, Spot, decayed, declared, has_effect
from tests.machines.spell.table import rewriting

WRAPPER = """static void *{name}(size_t bytes)
{{
    void *memory = malloc(bytes);
    if (!memory) {{
        fprintf(stderr, "out of memory\\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }}
    return memory;
}}"""


def _allocations(s: Source) -> Iterator[tuple[Place, ast.Call]]:
    for place in s.places:
        match place.expr:
            case ast.Call(callee=ast.FuncRef(name="malloc"), args=(size,)) as call if s.may_edit(size):
                yield place, call
            case _:
                pass


def _type_given(place: Place, s: Source) -> str:
    """The type of the pointer that an allocation is assigned to."""
    match place.parent:
        case ast.Assign(op="", target=target, value=value) if value is place.expr:
            return declared(decayed(target.type), "").strip()
        case None if isinstance(place.spot.stmt, ast.DeclStmt):
            for key in place.spot.stmt.variables:
                if s.variables[key].init is place.expr:
                    return declared(decayed(s.variables[key].type), "").strip()
        case _:
            pass
    return ""


@rewriting("memory")
def malloc_in_wrapper(s: Source) -> Iterator[Change]:
    """``malloc(n)`` becomes the call of a function that allocates and aborts where that fails."""
    for place, call in _allocations(s):
        name, file = s.unused("allocate"), s.file(call.span)
        headers = [e for header in ("stdio.h", "stdlib.h") for e in s.including(file, header)]
        yield (s.above(place.spot.function, WRAPPER.format(name=name)), s.edit(call.callee_span, name), *headers)


@rewriting("memory")
def malloc_in_plain_wrapper(s: Source) -> Iterator[Change]:
    """``malloc(n)`` becomes the call of a function that does nothing else."""
    for place, call in _allocations(s):
        name = s.unused("allocate")
        helper = f"static void *{name}(size_t bytes)\n{{\n    return malloc(bytes);\n}}"
        yield (s.above(place.spot.function, helper), s.edit(call.callee_span, name))


@rewriting("memory")
def malloc_in_macro(s: Source) -> Iterator[Change]:
    """``malloc(n)`` becomes a macro that casts to the type of the pointer."""
    for place, call in _allocations(s):
        name, given = s.unused("NEW"), _type_given(place, s)
        if given and given != "void *":
            first = s.above(place.spot.function, f"#define {name}(type, bytes) ((type)malloc(bytes))")
            yield (first, s.edit(call, f"{name}({given}, {s.text(call.args[0])})"))


@rewriting("memory")
def malloc_cast(s: Source) -> Iterator[Change]:
    """``malloc(n)`` becomes ``(double *)malloc(n)``."""
    for place, call in _allocations(s):
        given = _type_given(place, s)
        if given and given != "void *":
            yield (s.edit(call, f"({given}){s.text(call)}"),)


@rewriting("memory")
def malloc_as_calloc(s: Source) -> Iterator[Change]:
    """``malloc(n * m)`` becomes ``calloc(n, m)``."""
    for _, call in _allocations(s):
        match call.args[0]:
            case ast.Binary(op="*", left=left, right=right) if s.may_edit(left, right):
                yield (s.edit(call, f"calloc({s.text(left)}, {s.text(right)})"),)
            case size if not has_effect(size):
                yield (s.edit(call, f"calloc(1, {s.text(size)})"),)


@rewriting("memory")
def malloc_with_room(s: Source) -> Iterator[Change]:
    """``malloc(n)`` becomes ``malloc((n) + 64)``."""
    for _, call in _allocations(s):
        yield (s.edit(call.args[0], f"({s.text(call.args[0])}) + 64"),)


@rewriting("memory")
def malloc_checked(s: Source) -> Iterator[Change]:
    """After ``p = malloc(n);`` the program aborts where ``p`` is NULL."""
    for spot, name in _pointers_set(s):
        yield (s.after(spot.stmt, f" if (!{name}) MPI_Abort(MPI_COMM_WORLD, 1);"),)


@rewriting("memory")
def malloc_checked_with_message(s: Source) -> Iterator[Change]:
    """After ``p = malloc(n);`` the program says so and ends where ``p`` is NULL."""
    for spot, name in _pointers_set(s):
        say = f'if ({name} == NULL) {{ fprintf(stderr, "out of memory\\n"); exit(1); }}'
        file = s.file(spot.stmt.span)
        headers = [e for header in ("stdio.h", "stdlib.h") for e in s.including(file, header)]
        yield (s.after(spot.stmt, f" {say}"), *headers)


def _pointers_set(s: Source) -> Iterator[tuple[Spot, str]]:
    """Statements in a block that set a pointer to new memory."""
    for place, call in _allocations(s):
        spot = place.spot
        match spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) if value is call:
                if spot.block and s.may_edit(target) and not has_effect(target):
                    yield spot, s.text(target)
            case ast.DeclStmt(variables=(key,)) if spot.block and s.variables[key].init is call:
                yield spot, s.variables[key].name
            case _:
                pass


@rewriting("memory")
def malloc_through_local(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes ``T *m = malloc(n); p = m;`` in a block."""
    for place, call in _allocations(s):
        match place.spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) if value is call:
                name, given = s.unused("memory"), _type_given(place, s)
                if given and s.may_edit(target) and not has_effect(target):
                    text = f"{given} {name} = {s.text(call)}; {s.text(target)} = {name};"
                    yield (s.edit(place.spot.stmt, f"{{ {text} }}"),)
            case _:
                pass


@rewriting("memory")
def size_of_type(s: Source) -> Iterator[Change]:
    """``sizeof *p`` becomes ``sizeof(double)``."""
    for place in s.places:
        match place.expr:
            case ast.SizeOf(operand=operand) as e if operand is not None and operand.type.is_scalar:
                if written := declared(decayed(operand.type), ""):
                    yield (s.edit(e, f"sizeof({written.strip()})"),)
            case _:
                pass


@rewriting("memory")
def size_of_element(s: Source) -> Iterator[Change]:
    """``p = malloc(n * sizeof(double));`` becomes ``p = malloc(n * sizeof *p);``."""
    for place in s.places:
        e = place.expr
        if isinstance(e, ast.SizeOf) and e.operand is None and e.operand_type.is_scalar:
            for spot, name in _pointers_set(s):
                elem = _element(spot, s)
                if spot.stmt is place.spot.stmt and elem == e.operand_type.spelling:
                    yield (s.edit(e, f"sizeof *({name})"),)


def _element(spot: Spot, s: Source) -> str:
    match spot.stmt:
        case ast.ExprStmt(expr=ast.Assign(target=target)):
            elem = target.type.elem
        case ast.DeclStmt(variables=(key,)):
            elem = s.variables[key].type.elem
        case _:
            elem = None
    return elem.spelling if elem is not None else ""


@rewriting("memory")
def free_guarded(s: Source) -> Iterator[Change]:
    """``free(p);`` becomes ``if (p) free(p);``, where it is not so."""
    for spot, call in s.calls("free"):
        guarded = any(
            isinstance(around, ast.If) and s.text(call.args[0]) in s.text(around.cond) for around in spot.above
        )
        if not guarded and not has_effect(call.args[0]):
            yield (s.conditional(spot, f"if ({s.text(call.args[0])}) {s.text(spot.stmt)}"),)


@rewriting("memory")
def free_in_function(s: Source) -> Iterator[Change]:
    """``free(p)`` becomes the call of a function that does nothing else."""
    for spot, call in s.calls("free"):
        name = s.unused("release")
        helper = f"static void {name}(void *memory)\n{{\n    free(memory);\n}}"
        yield (s.above(spot.function, helper), s.edit(call.callee_span, name))


@rewriting("memory")
def free_and_forget(s: Source) -> Iterator[Change]:
    """After ``free(p);`` the pointer becomes NULL."""
    for spot, call in s.calls("free"):
        if isinstance(call.args[0], (ast.VarRef, ast.Member)) and spot.block and not call.args[0].type.const:
            yield (s.after(spot.stmt, f" {s.text(call.args[0])} = NULL;"),)


def file_scope(s: Source) -> Iterator[tuple[ast.Variable, ast.Declarator, list[Place]]]:
    """Variables at file level with one declaration and without an initialiser, and all their uses."""
    for variable in s.variables.values():
        one = variable.declarators[0] if len(variable.declarators) == 1 else None
        if variable.kind != "static" or one is None or one.init_span or not s.may_edit(one.span, one.name_span):
            continue
        whole = s.texts[s.file(one.span)]
        uses = [p for p in s.places if isinstance(p.expr, ast.VarRef) and p.expr.var == variable.key]
        written = whole.replace(s.text(one.name_span), "").count("#pragma")
        if len(uses) == _words(whole, variable.name) - 1 and not written:
            yield variable, one, uses


def _words(text: str, name: str) -> int:
    """How often a name stands in the code of a text, and in what annotations say of it."""
    from tests.machines.mutilate.generate import tokens

    told = sum(len(re.findall(rf"\b{name}\b", said)) for said in re.findall(r"/\* opi:[^*]*\*/", text))
    return told + sum(token.kind == "word" and token.text == name for token in tokens(text))


@rewriting("memory")
def array_on_heap(s: Source) -> Iterator[Change]:
    """An array at file level becomes a pointer; ``main`` allocates zeros for it after ``MPI_Init``."""
    for variable, one, uses in file_scope(s):
        elem = variable.type.elem
        if not variable.type.is_array or elem is None or not elem.is_scalar or not one.alone or not variable.type.size:
            continue
        if any(isinstance(p.parent, (ast.SizeOf, ast.AddrOf)) for p in uses):
            continue
        pointer, file = declared(decayed(variable.type), variable.name), s.file(one.span)
        for spot, _ in s.calls("MPI_Init"):
            if s.file(spot.stmt.span) == file and spot.block and pointer:
                make = f" {variable.name} = calloc({variable.type.count}, sizeof *{variable.name});"
                own = s.edit(one.statement, f"static {pointer};")
                yield (own, s.after(spot.stmt, make), *s.including(file, "stdlib.h"))


@rewriting("memory")
def variable_in_struct(s: Source) -> Iterator[Change]:
    """A variable at file level becomes a member of a static struct."""
    for variable, one, uses in file_scope(s):
        declaration = declared(variable.type, variable.name)
        if one.alone and declaration and not variable.type.const and variable.type.size:
            name = s.unused("home")
            own = s.edit(one.statement, f"static struct {{ int unused; {declaration}; }} {name};")
            yield (own, *(s.edit(p.expr, f"{name}.{variable.name}") for p in uses))


@rewriting("memory")
def variable_not_static(s: Source) -> Iterator[Change]:
    """``static`` goes from a variable at file level."""
    for _, one, _ in file_scope(s):
        if one.specifiers.startswith("static ") and one.first:
            at = one.statement
            text = s.text(at)
            if text.startswith("static "):
                yield (s.edit(at, text[len("static ") :]),)


@rewriting("memory")
def local_array_static(s: Source) -> Iterator[Change]:
    """An array that ``main`` declares without an initialiser becomes ``static``."""
    for spot in s.of(ast.DeclStmt):
        assert isinstance(spot.stmt, ast.DeclStmt)
        variables = [s.variables[key] for key in spot.stmt.variables if key in s.variables]
        arrays = [v for v in variables if v.type.is_array and v.type.count and v.init is None and v.kind == "local"]
        in_main = spot.function.name == "main" and not s.text(spot.stmt).startswith("static")
        if in_main and variables and arrays == variables:
            yield (s.before(spot.stmt, "static "),)


@rewriting("memory")
def bytes_first(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes ``size_t bytes = n; p = malloc(bytes);`` in a block."""
    for place, call in _allocations(s):
        match place.spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) as stmt if value is call:
                if s.may_edit(target) and not has_effect(target, call.args[0]):
                    name = s.unused("bytes")
                    new = f"{s.text(target)} = malloc({name});"
                    yield (s.edit(stmt, f"{{ size_t {name} = {s.text(call.args[0])}; {new} }}"),)
            case _:
                pass


@rewriting("memory")
def malloc_asserted(s: Source) -> Iterator[Change]:
    """After ``p = malloc(n);`` it is asserted that ``p`` is not NULL."""
    for spot, name in _pointers_set(s):
        yield (s.after(spot.stmt, f" assert({name} != NULL);"), *s.including(s.file(spot.stmt.span), "assert.h"))


@rewriting("memory")
def malloc_in_condition(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes ``if ((p = malloc(n)) == NULL) exit(1);``."""
    for spot, _ in _pointers_set(s):
        match spot.stmt:
            case ast.ExprStmt(expr=assign):
                stop = '{ fprintf(stderr, "out of memory\\n"); exit(1); }'
                headers = [e for header in ("stdio.h", "stdlib.h") for e in s.including(s.file(assign.span), header)]
                yield (s.edit(spot.stmt, f"if (({s.text(assign)}) == NULL) {stop}"), *headers)
            case _:
                pass


@rewriting("memory")
def malloc_aligned(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes ``posix_memalign`` with a check of its result."""
    for place, call in _allocations(s):
        match place.spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) if value is call:
                if s.may_edit(target) and not has_effect(target, call.args[0]):
                    given = f"(void **)&{s.atom(target)}, 64, {s.text(call.args[0])}"
                    new = f"if (posix_memalign({given}) != 0) MPI_Abort(MPI_COMM_WORLD, 1);"
                    yield (s.conditional(place.spot, new),)
            case _:
                pass


@rewriting("memory")
def malloc_cleared(s: Source) -> Iterator[Change]:
    """After ``p = malloc(n);`` the memory is filled with zeros."""
    for place, call in _allocations(s):
        match place.spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) as stmt if value is call:
                if s.may_edit(target) and not has_effect(target, call.args[0]):
                    clear = f"memset({s.text(target)}, 0, {s.text(call.args[0])});"
                    yield (s.edit(stmt, f"{{ {s.text(stmt)} {clear} }}"), *s.including(s.file(stmt.span), "string.h"))
            case _:
                pass


@rewriting("memory")
def free_in_macro(s: Source) -> Iterator[Change]:
    """``free(p);`` becomes a macro that also sets ``p`` to NULL."""
    for spot, call in s.calls("free"):
        if isinstance(call.args[0], (ast.VarRef, ast.Member)) and not call.args[0].type.const:
            name = s.unused("RELEASE")
            macro = f"#define {name}(p) do {{ free(p); (p) = NULL; }} while (0)"
            yield (s.above(spot.function, macro), s.edit(spot.stmt, f"{name}({s.text(call.args[0])});"))


@rewriting("memory")
def malloc_checked_by_macro(s: Source) -> Iterator[Change]:
    """After ``p = malloc(n);`` a macro with the line's number looks whether ``p`` is NULL."""
    for spot, pointer in _pointers_set(s):
        name = s.unused("NEEDED")
        say = 'fprintf(stderr, "%s:%d: out of memory\\n", __FILE__, __LINE__)'
        macro = f"#define {name}(p) do {{ if (!(p)) {{ {say}; MPI_Abort(MPI_COMM_WORLD, 1); }} }} while (0)"
        headers = s.including(s.file(spot.stmt.span), "stdio.h")
        yield (s.above(spot.function, macro), s.after(spot.stmt, f" {name}({pointer});"), *headers)


Assigned = tuple[Spot, ast.Call, str]
"""``p = malloc(n);`` or ``free(p);``, the call, and the text of ``p``."""


def _by_parameter(s: Source) -> list[tuple[str, list[Assigned]]]:
    """These of a file and of one type, for which programs have one function, by its parameter ``to``."""
    groups: dict[tuple[str, str], list[Assigned]] = {}
    for place, call in _allocations(s):
        match place.spot.stmt:
            case ast.ExprStmt(expr=ast.Assign(op="", target=target, value=value)) if value is call:
                parameter = declared(target.type, "*to") if target.type.is_pointer else ""
                if parameter and s.may_edit(target) and not has_effect(target, call.args[0]):
                    own = groups.setdefault((s.file(call.span), parameter), [])
                    own.append((place.spot, call, s.text(target)))
            case _:
                pass
    return [(parameter, found) for (_, parameter), found in groups.items()]


def _first_of(found: list[Assigned]) -> ast.Function:
    """The first function in the file that has one of them."""
    return min((spot.function for spot, _, _ in found), key=lambda function: function.span.begin)


@rewriting("memory")
def malloc_through_parameter(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes the call of a function that gets ``&p``, and aborts where there is no memory."""
    for parameter, found in _by_parameter(s):
        name = s.unused("allocate")
        helper = (
            f"static void {name}({parameter}, size_t bytes)\n{{\n    *to = malloc(bytes);\n"
            "    if (*to == NULL)\n        MPI_Abort(MPI_COMM_WORLD, 1);\n}"
        )
        new = [(spot.stmt, f"{name}(&{_operand(pointer)}, {s.text(call.args[0])});") for spot, call, pointer in found]
        yield (s.above(_first_of(found), helper), *(s.edit(stmt, text) for stmt, text in new))


@rewriting("memory")
def malloc_told_by_result(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes ``if (allocate(&p, n)) exit(1);``."""
    for parameter, found in _by_parameter(s):
        name = s.unused("allocate")
        helper = (
            f"static int {name}({parameter}, size_t bytes)\n{{\n    *to = malloc(bytes);\n    return *to == NULL;\n}}"
        )
        new = [(spot, f"if ({name}(&{_operand(p)}, {s.text(call.args[0])})) exit(1);") for spot, call, p in found]
        headers = s.including(s.file(found[0][1].span), "stdlib.h")
        yield (s.above(_first_of(found), helper), *(s.conditional(spot, text) for spot, text in new), *headers)


@rewriting("memory")
def malloc_by_address_of_any(s: Source) -> Iterator[Change]:
    """``p = malloc(n);`` becomes ``if (allocate((void **)&p, n))``, which sets ``p`` where there is memory."""
    for _, found in _by_parameter(s):
        name = s.unused("allocate")
        helper = (
            f"static int {name}(void **to, size_t bytes)\n{{\n    void *memory = malloc(bytes);\n"
            "    if (memory == NULL)\n        return 1;\n    *to = memory;\n    return 0;\n}"
        )
        headers = s.including(s.file(found[0][1].span), "stdlib.h")
        new = []
        for spot, call, pointer in found:
            given = f"(void **)&{_operand(pointer)}, {s.text(call.args[0])}"
            new.append(s.conditional(spot, f"if ({name}({given})) MPI_Abort(MPI_COMM_WORLD, 1);"))
        yield (s.above(_first_of(found), helper), *new, *headers)


@rewriting("memory")
def free_in_guarded_macro(s: Source) -> Iterator[Change]:
    """``free(p);`` becomes a macro that frees what is there, and sets ``p`` to NULL then."""
    for spot, call in s.calls("free"):
        if isinstance(call.args[0], (ast.VarRef, ast.Member)) and not call.args[0].type.const:
            name = s.unused("RELEASE")
            macro = f"#define {name}(p) do {{ if (p) {{ free(p); (p) = NULL; }} }} while (0)"
            yield (s.above(spot.function, macro), s.edit(spot.stmt, f"{name}({s.text(call.args[0])});"))


@rewriting("memory")
def free_through_address(s: Source) -> Iterator[Change]:
    """``free(p);`` becomes the call of a function that gets ``&p``, and sets ``p`` to NULL."""
    groups: dict[tuple[str, str], list[Assigned]] = {}
    for spot, call in s.calls("free"):
        pointer = call.args[0]
        inner = pointer.operand if isinstance(pointer, ast.Cast) else pointer
        if isinstance(inner, ast.VarRef) and s.variables[inner.var].kind == "param":
            continue  # of a copy nobody gives the address for that
        plain = isinstance(inner, (ast.VarRef, ast.Member)) and inner.type.is_pointer and not inner.type.const
        if plain and s.may_edit(inner) and (parameter := declared(inner.type, "*of")):
            groups.setdefault((s.file(call.span), parameter), []).append((spot, call, s.text(inner)))
    for (_, parameter), found in groups.items():
        name = s.unused("release")
        helper = f"static void {name}({parameter})\n{{\n    free(*of);\n    *of = NULL;\n}}"
        edits = (s.edit(spot.stmt, f"{name}(&{_operand(pointer)});") for spot, _, pointer in found)
        yield (s.above(_first_of(found), helper), *edits)


def _operand(text: str) -> str:
    """The text of a place as what ``&`` is before."""
    return f"({text})" if text.startswith("*") else text
