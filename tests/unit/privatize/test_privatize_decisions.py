"""Which variables become private, which stay shared, and which cannot be made private."""

from __future__ import annotations

from pathlib import Path

import pytest
from private_programs import Private

from opi_xform.frontend import parse_unit
from opi_xform.privatize import hazards, program, relocate
from opi_xform.privatize.table import Shared, table

MAIN = "int main(void) { return 0; }\n"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("static int a;\nvoid f(void) { a++; }", "private"),
        ("static int a;\nint f(void) { return a; }", "shared"),  # nothing writes it
        ("static const int a = 3;\nint f(void) { return a; }", "shared"),
        ("static int a;\nint *f(void) { return &a; }", "private"),  # its address is kept
        ("static volatile int a;\nint f(void) { return a; }", "private"),
        ("int f(void) { static int a; return a++; }", "private"),
        ("extern int a;\nvoid f(void) { a++; }", "refused OPI502"),  # no file defines it
        ('static int a __attribute__((section("mine")));\nvoid f(void) { a++; }', "refused OPI506"),
        ('static int a;\nvoid f(void) { a++; __asm__ volatile ("incl a"); }', "refused OPI506"),
        ("#define BOTH static int a; static int b;\nBOTH\nvoid f(void) { a++; b++; }", "refused OPI501"),
        ("static int *a = (int[]){1};\nvoid f(void) { a = 0; }", "refused OPI504"),
    ],
)
@pytest.mark.parametrize("form", ["tls", "struct"])
def test_a_variable(form: str, text: str, verdict: str, tmp_path: Path) -> None:
    assert Private(tmp_path, (f"{text}\n{MAIN}",), form).verdicts()["a"] == verdict


@pytest.mark.parametrize(
    ("text", "form", "verdicts"),
    [
        # what is declared together gets one storage class; a struct's fields may differ
        ("static int a, b;\nvoid f(void) { a = b; }", "tls", {"a": "private", "b": "private"}),
        ("static int a, b;\nvoid f(void) { a = b; }", "struct", {"a": "private", "b": "shared"}),
        # what is each thread's is each rank's already, but for fibers, whose form is that of structs
        ("_Thread_local int a;\nvoid f(void) { a++; }", "tls", {"a": "private"}),
        ("_Thread_local int a;\nvoid f(void) { a++; }", "struct", {"a": "refused OPI501"}),
        # a constant that holds the address of what is private is another one on each rank
        ("static int a;\nstatic int *const p = &a;\nvoid f(void) { *p = 1; }", "tls", {"a": "private", "p": "private"}),
        # what an array that nobody can move holds from the start has one address
        (
            "static int a;\nstatic int *p[] = {&a, (int[]){1}};\nvoid f(void) { p[0]++; a++; }",
            "struct",
            {"a": "refused OPI507", "p": "refused OPI504"},
        ),
    ],
)
def test_variables_that_depend_on_others(text: str, form: str, verdicts: dict[str, str], tmp_path: Path) -> None:
    assert Private(tmp_path, (f"{text}\n{MAIN}",), form).verdicts() == verdicts


def test_a_variable_of_several_files_is_one(tmp_path: Path) -> None:
    made = Private(tmp_path, (f"int a;\n{MAIN}", "extern int a;\nvoid f(void) { a++; }\n"), "tls")
    assert made.verdicts() == {"a": "private"}
    assert len(made.variable("a").parts) == 2
    two = Private(tmp_path, (f"int a = 1;\n{MAIN}", "int a = 2;\nvoid f(void) { a++; }\n"), "tls")
    assert two.verdicts() == {"a": "refused OPI502"}
    assert "several files define it (f0.c and f1.c)" in two.message("a")


@pytest.mark.parametrize(
    "text", ["extern int a;\nint a = 1;", "int a;\nint a = 1;", "extern int a;\nint a;\nextern int a;"]
)
def test_a_variable_is_where_it_is_defined(text: str, tmp_path: Path) -> None:
    span = Private(tmp_path, (f"{text}\nvoid f(void) {{ a++; }}\n{MAIN}",), "tls").variable("a").definition
    assert span is not None
    assert span.line == 2


def test_a_static_variable_of_a_header_is_one_text(tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("static int a;\n")
    writes, reads = "void f(void) { a++; }", "int g(void) { return a; }"
    made = Private(tmp_path, (f'#include "h.h"\n{writes}\n{MAIN}', f'#include "h.h"\n{reads}\n'), "tls")
    assert made.verdicts() == {"a": "private"}  # though the second file only reads it


def test_others_may_use_what_a_part_of_a_program_defines(tmp_path: Path) -> None:
    assert Private(tmp_path, ("int a;\nvoid f(void) { a++; }\n",), "tls").verdicts() == {"a": "refused OPI502"}
    assert Private(tmp_path, ("static int a;\nvoid f(void) { a++; }\n",), "tls").verdicts() == {"a": "private"}


def test_nothing_outside_the_root_is_edited(tmp_path: Path) -> None:
    root = tmp_path / "inside"
    root.mkdir()
    made = Private(tmp_path, (f"static int a;\nvoid f(void) {{ a++; }}\n{MAIN}",), "tls", str(root))
    assert made.verdicts() == {"a": "refused OPI502"}
    assert made.message("a") == "it is declared in f0.c, outside inside"


# --- hazards ----------------------------------------------------------------------------------------------------------

THREAD = "typedef unsigned long pthread_t;\nint pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            f"{THREAD}static int a;\nstatic void *work(void *p) {{ a++; return p; }}\n"
            "void f(void) { pthread_t t; pthread_create(&t, 0, work, 0); }",
            "threads of the program may use it: they would find other copies (`work`, line 4)",
        ),
        (
            "void (*signal(int, void (*)(int)))(int);\nstatic int a;\nstatic void catch(int n) { a = n; }\n"
            "void f(void) { signal(2, catch); }",
            "a signal handler may use it, on whatever thread it runs (`catch`, line 3)",
        ),
        (
            f"{THREAD}static int a;\nstatic void *work(void *p) {{ return p; }}\n"
            "void f(void) { pthread_t t; pthread_create(&t, 0, work, 0); a++; }",
            "",
        ),
        (  # no thread begins with a function of that type
            f"{THREAD}static int a;\nstatic void *work(void *p) {{ return p; }}\nstatic void add(int n) {{ a = n; }}\n"
            "void (*later)(int) = add;\nvoid f(void) { pthread_t t; pthread_create(&t, 0, work, 0); later(1); }",
            "",
        ),
    ],
)
def test_what_runs_beside_a_rank(text: str, why: str, tmp_path: Path) -> None:
    made = Private(tmp_path, (f"{text}\n{MAIN}",), "tls")
    key = made.variable("a").key
    assert hazards.threads_of_its_own(made.text.whole).get(key, "") == why
    assert made.verdicts()["a"] == ("refused OPI505" if why else "private")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("int rand(void);\nint f(void) {\nreturn rand(); }", "OPI511", 3),
        ("int chdir(const char *);\nint f(void) {\nreturn chdir(0); }", "OPI512", 3),
        (
            f"{THREAD}static void *work(void *p) {{ return p; }}\nvoid f(void) {{ pthread_t t;\n"
            "pthread_create(&t, 0, work, 0); }",
            "OPI515",
            5,
        ),
        (
            "static int a;\ntypedef int MPI_Op;\nint MPI_Op_create(void (*)(void), int, MPI_Op *);\n"
            "static void add(void) { a++; }\nint f(MPI_Op *o) {\nreturn MPI_Op_create(add, 1, o); }",
            "OPI514",
            6,
        ),
        ("static int a;\n__attribute__((constructor)) static void\nearly(void) { a++; }", "OPI514", 2),
    ],
)
def test_remarks_about_what_ranks_of_one_process_share(text: str, code: str, line: int, tmp_path: Path) -> None:
    made = Private(tmp_path, (f"{text}\n{MAIN}",), "tls")
    assert (line, code) in [(d.span.line, d.code) for d in made.decided.remarks]
    assert {d.code for d in made.decided.remarks} == {code}


def test_a_function_of_the_program_with_a_librarys_name_is_its_own(tmp_path: Path) -> None:
    made = Private(tmp_path, (f"int rand(void) {{ return 4; }}\nint f(void) {{ return rand(); }}\n{MAIN}",), "tls")
    assert made.decided.remarks == ()


def test_what_code_may_run_goes_through_pointers_where_it_calls_one(tmp_path: Path) -> None:
    text = """static void one(void) {}
static void two(void) {}
static void (*p)(void) = two;
static void plain(void) { one(); }
static void through(void) { p(); }
"""
    whole = Private(tmp_path, (f"{text}void f(void) {{ plain(); through(); p = one; }}\n{MAIN}",), "tls").text.whole
    names = {key.rpartition(":")[2]: key for key in whole.units[0].routines}

    def reached(name: str) -> set[str]:
        return {key.rpartition(":")[2] for _, key in program.reached(whole, [(0, names[name])])}

    assert reached("plain") == {"plain", "one"}
    assert reached("through") == {"through", "one", "two"}  # whatever has its address taken


def test_the_table_says_what_hinders_and_what_to_use_instead() -> None:
    own = "rand_r, with a seed of the rank's own"
    assert table().state["rand"].advice == f"has one seed and one sequence for all; use {own}"
    assert Shared("stands alone").advice == "stands alone"
    assert "pthread_create" in table().threads
    assert all(one.signature for one in (*table().threads.values(), *table().signals.values()))
    assert all(one.why for one in (*table().state.values(), *table().process.values(), *table().variables.values()))


# --- places of addresses ----------------------------------------------------------------------------------------------


def places(folder: Path, text: str, expected: int, private: str) -> list[tuple[int, str]]:
    """Of ``p``: where its bytes have the addresses of private variables, by their names."""
    path = folder / "t.c"
    path.write_text(f"static int a, b, c;\n{text}\nint f(void) {{ return a + b + c + (int)sizeof p; }}\n")
    unit = parse_unit(str(path))
    (p,) = (v for v in unit.globals.values() if v.name == "p")
    found = relocate.places(p, expected, lambda key: key if unit.globals[key].name in private else "")
    return [(at, unit.globals[key].name) for at, key in found]


@pytest.mark.parametrize(
    ("text", "expected", "found"),
    [
        ("static int *p = &a;", 1, [(0, "a")]),
        ("static int *p[] = {&c, &b, &a};", 2, [(8, "b"), (16, "a")]),  # c is not private
        ("static struct { int n; int *at[2]; } p = {1, {0, &a}};", 1, [(16, "a")]),
        ("static int *p[3] = {[2] = &b, [0] = &a};", 2, [(0, "a"), (16, "b")]),
        ("static unsigned long p[] = {sizeof a};", 0, []),  # no address
    ],
)
def test_where_an_initialiser_puts_addresses(
    text: str, expected: int, found: list[tuple[int, str]], tmp_path: Path
) -> None:
    assert places(tmp_path, text, expected, "ab") == found


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("static int *p = &a;", 2, "not every address"),
        ("static int *p = 1 ? &a : &b;", 2, "several private variables"),
        ("static long p = (long)&a;", 1, "something else than a pointer"),
        ("static int *p;", 0, "not understood"),  # there is none
    ],
)
def test_initialisers_that_are_not_clear(text: str, expected: int, why: str, tmp_path: Path) -> None:
    with pytest.raises(relocate.Unclear, match=why):
        places(tmp_path, text, expected, "ab")
