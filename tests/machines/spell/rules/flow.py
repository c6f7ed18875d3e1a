"""Early ends, error checks, output of other data, and blocks."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.ir import ast
from tests.machines.spell.source import Change, Source, Spot, jumps
from tests.machines.spell.table import rewriting


def _rank_asked(s: Source) -> Iterator[tuple[Spot, str]]:
    """Where ``MPI_Comm_rank`` sets a plain local, and its name."""
    for spot, call in s.calls("MPI_Comm_rank"):
        match call.args[1]:
            case ast.AddrOf(operand=ast.VarRef() as ref) if spot.block and s.may_edit(ref):
                yield spot, s.text(ref)
            case _:
                pass


@rewriting("flow")
def error_check(s: Source) -> Iterator[Change]:
    """The program aborts where the rank is negative."""
    for spot, name in _rank_asked(s):
        yield (s.after(spot.stmt, f" if ({name} < 0) MPI_Abort(MPI_COMM_WORLD, 1);"),)


@rewriting("flow")
def early_return(s: Source) -> Iterator[Change]:
    """``main`` returns where the rank is negative."""
    for spot, name in _rank_asked(s):
        returned = spot.function.type.elem
        if returned is not None and returned.spelling in ("int", "void"):
            end = "return 1;" if returned.spelling == "int" else "return;"
            yield (s.after(spot.stmt, f" if ({name} < 0) {{ MPI_Finalize(); {end} }}"),)


@rewriting("flow")
def early_exit_of_others(s: Source) -> Iterator[Change]:
    """A rank that is not there prints that it has nothing to do and aborts."""
    for spot, name in _rank_asked(s):
        file = s.file(spot.stmt.span)
        say = f'fprintf(stderr, "rank %d has nothing to do\\n", {name});'
        new = f" if ({name} >= 1000000) {{ {say} MPI_Abort(MPI_COMM_WORLD, 2); }}"
        yield (s.after(spot.stmt, new), *s.including(file, "stdio.h"))


@rewriting("flow")
def asserted(s: Source) -> Iterator[Change]:
    """The rank is asserted to be at least 0."""
    for spot, name in _rank_asked(s):
        yield (s.after(spot.stmt, f" assert({name} >= 0);"), *s.including(s.file(spot.stmt.span), "assert.h"))


@rewriting("flow")
def last_if_as_return(s: Source) -> Iterator[Change]:
    """``if (c) A`` at the end of a function without result becomes ``if (!(c)) return; A``."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=cond, then=then, other=None):
                last = spot.block is spot.function.body and not spot.following
                returned = spot.function.type.elem
                if last and returned is not None and returned.kind == "void" and s.may_edit(cond, then):
                    yield (s.edit(spot.stmt, f"if (!({s.marked(cond)})) return; {s.as_block(then)}"),)
            case _:
                pass


@rewriting("flow")
def jump_to_end(s: Source) -> Iterator[Change]:
    """``if (c) A`` becomes ``if (!(c)) goto end; A end: ;``."""
    for spot in s.of(ast.If):
        match spot.stmt:
            case ast.If(cond=cond, then=then, other=None) if s.may_edit(cond, then) and not jumps(then, ast.Case):
                name = s.unused("end")
                whole = f"{{ if (!({s.marked(cond)})) goto {name}; {s.as_block(then)} {name}: ; }}"
                if not any("[n]" in t.spelling or t.vla for t in (v.type for v in spot.function.variables.values())):
                    yield (s.edit(spot.stmt, whole),)
            case _:
                pass


def _numbers(s: Source, spot: Spot) -> list[str]:
    """Parameters of the function that are whole numbers, and variables at file level."""
    function = spot.function
    names = [function.variables[key].name for key in function.params if function.variables[key].type.spelling == "int"]
    return names[:1] or ["0"]


def _statements(s: Source) -> Iterator[Spot]:
    """Statements in blocks, other than declarations, that something may be put in front of."""
    for spot in s.spots:
        marked = s.texts[s.file(spot.stmt.span)][: spot.stmt.span.begin].endswith("*/")
        if spot.block and isinstance(spot.stmt, (ast.ExprStmt, ast.For, ast.If)) and not marked:
            yield spot


@rewriting("output")
def printed_to_stderr(s: Source) -> Iterator[Change]:
    """A number is printed to stderr."""
    for spot in _statements(s):
        new = f'fprintf(stderr, "here: %d\\n", {_numbers(s, spot)[0]}); '
        yield (s.before(spot.stmt, new), *s.including(s.file(spot.stmt.span), "stdio.h"))


@rewriting("output")
def printed_when_asked(s: Source) -> Iterator[Change]:
    """A number is printed where an environment variable is set."""
    for spot in _statements(s):
        file = s.file(spot.stmt.span)
        new = f'if (getenv("SPELL_TELLS")) printf("here: %d\\n", {_numbers(s, spot)[0]}); '
        headers = [e for header in ("stdio.h", "stdlib.h") for e in s.including(file, header)]
        yield (s.before(spot.stmt, new), *headers)


@rewriting("output")
def printed_by_switch(s: Source) -> Iterator[Change]:
    """A number is printed where a static variable says so."""
    for spot in _statements(s):
        name = s.unused("verbose")
        new = f'if ({name}) printf("here: %d\\n", {_numbers(s, spot)[0]}); '
        headers = s.including(s.file(spot.stmt.span), "stdio.h")
        yield (s.above(spot.function, f"static int {name};"), s.before(spot.stmt, new), *headers)


@rewriting("output")
def other_data_summed(s: Source) -> Iterator[Change]:
    """The sum of an array of its own is kept and printed to stderr."""
    for spot in _statements(s):
        name = s.unused("other")
        helper = f"static double {name}[4];"
        new = f'{{ {name}[1] += 1.0; fprintf(stderr, "%g\\n", {name}[0] + {name}[1]); }} '
        headers = s.including(s.file(spot.stmt.span), "stdio.h")
        yield (s.above(spot.function, helper), s.before(spot.stmt, new), *headers)


@rewriting("output")
def traced_by_macro(s: Source) -> Iterator[Change]:
    """A macro that does nothing in this build stands in front of a statement."""
    for spot in _statements(s):
        name = s.unused("TRACE")
        macro = f'#ifdef SPELL_TELLS\n#define {name}(x) fprintf(stderr, "%s\\n", x)\n#else\n'
        macro += f"#define {name}(x) ((void)0)\n#endif"
        yield (s.above(spot.function, macro), s.before(spot.stmt, f'{name}("here"); '))


@rewriting("output")
def traced_by_function(s: Source) -> Iterator[Change]:
    """A function with a variable number of arguments prints to stderr where that is asked for."""
    for spot in _statements(s):
        name, file = s.unused("tell"), s.file(spot.stmt.span)
        helper = (
            f"static void {name}(const char *form, ...)\n{{\n    va_list list;\n"
            '    if (!getenv("SPELL_TELLS"))\n        return;\n'
            "    va_start(list, form);\n    vfprintf(stderr, form, list);\n    va_end(list);\n}"
        )
        headers = [e for header in ("stdio.h", "stdlib.h", "stdarg.h") for e in s.including(file, header)]
        new = f'{name}("here: %d\\n", {_numbers(s, spot)[0]}); '
        yield (s.above(spot.function, helper), s.before(spot.stmt, new), *headers)


@rewriting("blocks")
def in_block(s: Source) -> Iterator[Change]:
    """A statement becomes a block of its own."""
    for spot in s.spots:
        if isinstance(spot.stmt, (ast.ExprStmt, ast.For, ast.If, ast.While)) and spot.block:
            yield (s.edit(spot.stmt, f"{{ {s.text(spot.stmt)} }}"),)


@rewriting("blocks")
def done_once(s: Source) -> Iterator[Change]:
    """A statement becomes the body of ``do … while (0)``."""
    for spot in s.spots:
        kinds = (ast.ExprStmt, ast.For, ast.If)
        if isinstance(spot.stmt, kinds) and spot.block and not jumps(spot.stmt, ast.Break, ast.Continue):
            yield (s.edit(spot.stmt, f"do {{ {s.text(spot.stmt)} }} while (0);"),)


@rewriting("blocks")
def done_if_true(s: Source) -> Iterator[Change]:
    """A statement becomes the body of ``if (1)``."""
    for spot in s.spots:
        if isinstance(spot.stmt, (ast.ExprStmt, ast.For)) and spot.block:
            yield (s.edit(spot.stmt, f"if (1) {{ {s.text(spot.stmt)} }}"),)


@rewriting("blocks")
def in_branch_of_macro(s: Source) -> Iterator[Change]:
    """A statement stands in ``#if`` of a macro that the program defines as 1."""
    for spot in _statements(s):
        name = s.unused("WITH")
        if not isinstance(spot.stmt, ast.ExprStmt):
            continue
        file, begin = s.file(spot.stmt.span), spot.stmt.span.begin
        text = s.texts[file]
        before, after = text[:begin].rpartition("\n")[2], text[spot.stmt.span.end :].partition("\n")[0]
        if not before.strip() and (not after.strip() or after.lstrip().startswith("//")):
            new = f"\n#if {name}\n    {s.text(spot.stmt)}\n#endif\n"
            yield (s.above(spot.function, f"#define {name} 1"), s.edit(spot.stmt, new))
