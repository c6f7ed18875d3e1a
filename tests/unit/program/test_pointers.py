"""Calls through pointers, functions that print, what threads run, macros that change: told from the whole program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from core_support import around, called_in, unit
from frontend_support import parse

from opi_xform.effects.table import load_effects
from opi_xform.graph.whole import merge
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import INT, LONG, Type
from opi_xform.program.changed_macros import MOVING, unsteady_macros
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.own_memalign import without_misread
from opi_xform.program.pointers import agree
from opi_xform.program.printing import printing, told
from opi_xform.program.threads import followed

EFFECTS = load_effects()
DOUBLE = Type("float", "double", 8)

# --- calls through pointers -------------------------------------------------------------------------------------------

FUNCTIONS = """
static int one(int a) { return a; } static int two(int a, int b) { return a + b; }
static double real(double x) { return x; } static void none(void) { }
"""


def targets(body: str, head: str = "", complete: bool = True) -> tuple[list[str], bool]:
    """What the only call through a pointer may reach, and whether it is one that is never made."""
    found = around(f"{FUNCTIONS}{head} int main(int n, char **v) {{ {body} return 0; }}", complete)
    pointers = [c for c in called_in(found.lowerings.get("main")) if not isinstance(c.callee, ins.AddrFunc)]
    (call,) = pointers
    names = [name.rpartition(":")[2] for name in found.pointers.targets(call)]
    return names, found.pointers.never(call)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("int (*p)(int) = one; int (*q)(int, int) = two; n = !q; p(1);", ["one"]),
        ("int (*p)(int, int) = two; int (*q)(int) = one; n = !q; p(1, 2);", ["two"]),
        ("double (*p)(double) = real; int (*q)(int) = one; n = !q; p(1);", ["real"]),
        ("int (*p)(int) = n > 1 ? one : 0; p(1);", ["one"]),
    ],
)
def test_functions_of_the_type_of_the_call(body: str, expected: list[str]) -> None:
    assert targets(body) == (expected, False)


def test_what_a_part_of_a_program_calls_is_not_known() -> None:
    assert targets("int (*p)(int) = one; p(1);", complete=False) == ([], False)


def test_what_unknown_code_may_hand_out_is_not_known() -> None:
    assert targets("int (*p)(int) = one; unknown(); p(1);", "void unknown(void);") == ([], False)
    assert targets("p(1); q = one;", "extern int (*p)(int); static int (*q)(int);") == ([], False)


def test_a_hook_that_nobody_sets_is_never_called() -> None:
    hook = "static void (*hook)(double *); static double u[4];"
    assert targets("int (*p)(int) = one; n = !p; hook(u);", hook) == ([], True)
    cast = "long k = (long)one; n = k != 0; hook(u);"
    assert not targets(cast, hook)[1], "where a program casts functions, nothing is said"


def test_a_cast_makes_other_functions_possible() -> None:
    body = (
        "int (*p)(int) = one; int (*q)(int) = (int (*)(int))real; double (*r)(double) = real; (void)q; (void)r; p(1);"
    )
    assert targets(body)[0] == ["one"], "the arguments are of another kind"
    head = "static int wide(long a) { return (int)a; }"
    body = "int (*p)(int) = one; int (*q)(int) = (int (*)(int))wide; n = !q; p(1);"
    assert sorted(targets(body, head)[0]) == ["one", "wide"]


def test_types_that_agree() -> None:
    to = {t.spelling: Type("pointer", f"{t.spelling} *", 8, elem=t) for t in (INT, LONG, DOUBLE)}
    assert agree(INT, INT)
    assert not agree(INT, LONG)
    assert not agree(INT, DOUBLE)
    assert agree(to["int"], to["int"])
    assert not agree(to["int"], to["long"])
    function = Type("function", "", elem=INT, params=(INT,))
    assert agree(function, replace(function, params=(INT,)))
    assert not agree(function, replace(function, params=(INT, INT)))
    assert not agree(function, replace(function, params=(to["int"],)))
    assert agree(function, replace(function, params=None)), "a function without a prototype"


# --- functions that print ---------------------------------------------------------------------------------------------

LISTS = """
typedef __builtin_va_list va_list; int vprintf(const char *, va_list); int vsscanf(const char *, const char *, va_list);
void keep(va_list); static double u[4]; static int n;
"""
OPEN, CLOSE = "va_list ap; __builtin_va_start(ap, format);", "__builtin_va_end(ap);"


def prints(text: str, call: str = 'say("%d", n);') -> set[str]:
    whole = merge([unit(f"{LISTS}{text} int main(void) {{ {call} return 0; }}")])
    lowerings = Lowerings(whole.functions, {k: v for k, v in whole.variables.items() if v.is_global}, EFFECTS)
    return {name.rpartition(":")[2] for name in printing(lowerings, EFFECTS, ())}


SAY = f"static void say(const char *format, ...) {{ {OPEN} vprintf(format, ap); {CLOSE} }}"


@pytest.mark.parametrize(
    ("text", "call", "expected"),
    [
        (SAY, 'say("%d", n);', {"say"}),
        (SAY, 'say("%s", "text");', {"say"}),
        (SAY, 'say("%p", u);', set()),  # an address goes where it can be read back
        (SAY, 'say("%n", &n);', set()),  # that is written
        (SAY, 'say(n ? "%p" : "%s", u);', set()),  # a format that nobody reads in the text
        (SAY, 'say(n ? "%d" : "%x", n);', {"say"}),  # but no address is given
        (f"static void say(const char *format, ...) {{ {OPEN} keep(ap); {CLOSE} }}", 'say("%d", n);', set()),
        (
            f"static void say(const char *format, ...) {{ {OPEN} n = __builtin_va_arg(ap, int); {CLOSE} }}",
            'say("%d", n);',
            set(),
        ),
        (
            f'static void say(const char *format, ...) {{ format = "%s"; {OPEN} vprintf(format, ap); {CLOSE} }}',
            'say("%d", n);',
            set(),
        ),
        (
            "static void put(const char *f, va_list ap) { vprintf(f, ap); }"
            f"static void say(const char *format, ...) {{ {OPEN} put(format, ap); {CLOSE} }}",
            'say("%d", n);',
            {"say", "put"},
        ),
    ],
)
def test_functions_that_print_what_they_are_given(text: str, call: str, expected: set[str]) -> None:
    assert prints(text, call) == expected


def test_a_librarys_function_that_prints_a_list() -> None:
    assert told({"say"}, "say", EFFECTS["vprintf"])
    assert not told({"say"}, "other", EFFECTS["vprintf"])
    assert not told({"say"}, "say", EFFECTS["printf"])
    assert not told({"say"}, "say", EFFECTS["vsscanf"])
    assert not told({"say"}, "say", None)


# --- what several threads may run -------------------------------------------------------------------------------------

REGION = """
int MPI_Barrier(MPI_Comm); int rand(void); double sqrt(double); void unknown(void);
static double u[8]; static int k; static _Thread_local int mine;
static void fill(int i) {{ u[i] = sqrt(i); }}
static void deep(void) {{ MPI_Barrier(MPI_COMM_WORLD); }}
void f(int n)
{{
#pragma omp parallel for
    for (int i = 0; i < n; i++) {{ {} }}
}}
int main(void) {{ f(8); return 0; }}
"""


def threads(tmp_path: Path, body: str) -> tuple[str, int]:
    """Why ``f`` is refused, and how many stretches of text threads may run."""
    from ownership_support import HEADER, LIBC

    (tmp_path / "mpi.h").write_text(HEADER + LIBC)
    parsed = parse(tmp_path, '#include "mpi.h"\n' + REGION.format(body), ["-fopenmp", f"-I{tmp_path}"])
    (checked,), spans = followed([parsed], EFFECTS)
    return checked.functions["f"].refused, len(spans)


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        ("u[i] = sqrt(i);", ""),
        ("fill(i);", ""),
        ("deep();", "calls `MPI_Barrier`"),
        ("unknown();", "calls `unknown`"),
        ("__builtin_prefetch(u);", ""),
        ("u[i] = mine;", "uses `mine`, of which each thread has one"),
    ],
)
def test_regions_that_are_no_serial_code(tmp_path: Path, body: str, trouble: str) -> None:
    refused, _ = threads(tmp_path, body)
    assert (trouble in refused) if trouble else (refused == "")


def test_the_text_that_threads_run_is_the_regions_and_what_they_call(tmp_path: Path) -> None:
    assert threads(tmp_path, "u[i] = i;")[1] == 1
    assert threads(tmp_path, "fill(i);")[1] == 2


# --- macros, and a function of the C library's name ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define N 10\n", set()),
        ("#define N 10\n#define N 10\n", set()),
        ("#define N 10\n#undef N\n", {"N"}),
        ("#define N 10\n#undef N\n#define N 20\n#define M (N + 1)\n#define K M\n#define L 3\n", {"N", "M", "K"}),
        ("#define N 10 /* ten */\n#define N 10\n", set()),
        ("#if OTHER\n#undef N\n#endif\n#define N 10\n", set()),  # not in this configuration
        ("#define HERE __LINE__\n", {"HERE"}),
    ],
)
def test_macros_that_mean_one_thing_here_and_another_there(tmp_path: Path, text: str, expected: set[str]) -> None:
    parsed = parse(tmp_path, f"{text}int main(void) {{ return 0; }}\n")
    assert unsteady_macros([parsed]) - MOVING == expected


def test_a_program_with_a_posix_memalign_of_its_own() -> None:
    text = "int posix_memalign(void **p, size_t a, size_t n) {{ return {}; }}"
    library = "void *aligned_alloc(size_t, size_t);"
    asks = library + " void f(void) { char *p = aligned_alloc(64, 8); p[0] = 1; } void g(void) {}"
    ours = unit(asks + text.format("n > 8"))
    (read,) = without_misread([ours])
    assert read.functions["f"].refused == "`posix_memalign` is a function of the program's own"
    assert read.functions["g"].refused == ""
    others = unit(asks)
    assert list(without_misread([others])) == [others]
    assert isinstance(read, ast.Unit)
