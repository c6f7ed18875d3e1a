"""Functions that only compute, calls that only succeed, functions that keep an address: each told from its text."""

from __future__ import annotations

import pytest
from core_support import around, called_in, unit

from opi_xform.effects.table import load_effects
from opi_xform.graph.whole import merge
from opi_xform.ir import instr as ins
from opi_xform.program.keeping import hidden
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.plain import Plain
from opi_xform.program.succeeding import Succeeding, succeeding

EFFECTS = load_effects()
HEAD = "double sqrt(double); int rand(void); void use(int); static int seen, *where;\n"


def computes(text: str, name: str = "f") -> bool:
    whole = merge([unit(HEAD + text)])
    return Plain(whole.functions, Lowerings(whole.functions, whole.variables, EFFECTS).get, EFFECTS).computes(
        next(key for key, f in whole.functions.items() if f.name == name)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int f(int x, int y) { return y ? f(y, x % y) : x; }", True),
        ("double f(double x) { double y = x; while (y > 1) y = sqrt(y); return y; }", True),
        ("int g(int x) { return x + 1; } int f(int x) { return g(x) * 2; }", True),
        ("int f(int x) { seen = x; return x; }", False),
        ("int f(int x) { return x + seen; }", False),
        ("int f(int x) { return rand(); }", False),
        ("int f(int *x) { return *x; }", False),
        ("int f(int x) { int a[3]; a[0] = x; return a[0]; }", False),
        ("int g(int x) { return x + seen; } int f(int x) { return g(x); }", False),
        ("int f(int x) { use(x); return x; }", False),
        ("int f(volatile int x) { return x; }", False),
    ],
)
def test_functions_that_only_compute(text: str, expected: bool) -> None:
    assert computes(text) is expected


# --- calls of MPI that come back only without an error ----------------------------------------------------------------

SEND = "MPI_Send(0, 0, 0, 0, 0, 0)"


def library(text: str) -> frozenset[str]:
    whole = merge([unit(text)])
    return succeeding(whole.functions, whole.variables, EFFECTS)


def test_messages_succeed_where_no_error_returns() -> None:
    assert library(f"int main(void) {{ {SEND}; return 0; }}") == {"MPI_Send"}
    handler = "int MPI_Comm_set_errhandler(MPI_Comm, int);"
    assert library(f"{handler} int main(void) {{ MPI_Comm_set_errhandler(0, 1); {SEND}; return 0; }}") == frozenset()
    assert library(f"void unknown(void); int main(void) {{ unknown(); {SEND}; return 0; }}") == frozenset()


def test_completions_succeed_where_there_are_no_files() -> None:
    body = "MPI_Request r; MPI_Irecv(0, 0, 0, 0, 0, 0, &r); MPI_Wait(&r, 0);"
    assert library(f"int main(void) {{ {body} return 0; }}") == {"MPI_Irecv", "MPI_Wait"}
    file = "int MPI_File_iwrite(int, const void *, int, MPI_Datatype, MPI_Request *);"
    assert library(f"{file} int main(void) {{ {body} MPI_File_iwrite(0, 0, 0, 0, &r); return 0; }}") == {"MPI_Irecv"}


def zeros(body: str) -> set[str]:
    """Variables of ``f`` that are 0 wherever they are read."""
    whole = merge([unit(f"{HEAD}int other(void); int f(int x) {{ {body} }} int main(void) {{ return f(3); }}")])
    lowerings = Lowerings(whole.functions, whole.variables, EFFECTS)
    found = Succeeding(sorted(whole.functions), lowerings, frozenset({"MPI_Send"}))
    low = lowerings.get("f")
    assert low is not None
    return {low.function.variables[k].name for k in found.zeros(low) if k in low.function.variables}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"int rc = {SEND}; return rc;", {"rc"}),
        (f"int rc; rc = {SEND}; int s = rc; return s;", {"rc", "s"}),
        (f"int rc = {SEND}; rc = x; return rc;", set()),
        (f"int rc = {SEND}; rc = other(); return rc;", set()),
        (f"int rc = {SEND}, *p = &rc; *p = 3; return rc;", set()),
        (f"volatile int rc = {SEND}; return rc;", set()),
    ],
)
def test_variables_that_hold_such_results(body: str, expected: set[str]) -> None:
    assert zeros(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"return {SEND};", True),
        (f"int rc = {SEND}; if (rc) return rc; return 0;", True),
        (f"{SEND}; return x;", False),
    ],
)
def test_functions_that_hand_the_result_on(body: str, expected: bool) -> None:
    whole = merge([unit(f"int f(int x) {{ {body} }} int main(void) {{ return f(3); }}")])
    lowerings = Lowerings(whole.functions, whole.variables, EFFECTS)
    assert ("f" in Succeeding(sorted(whole.functions), lowerings, frozenset({"MPI_Send"})).calls) is expected


# --- functions that give addresses to keep ----------------------------------------------------------------------------


def keeping(text: str) -> set[str]:
    whole = merge([unit(text)])
    return {whole.functions[key].name for key in hidden(whole.functions, EFFECTS)}


def test_functions_that_give_addresses_to_keep() -> None:
    text = """
    void unknown(void *); int atexit(void (*)(void)); void *memset(void *, int, unsigned long);
    int MPI_Win_create(void *, long, int, int, MPI_Comm, MPI_Win *);
    static int u[4]; MPI_Win w; MPI_Request r;
    static void end(void) {}
    static void gives(void) { unknown(u); }
    static void calls(void) { gives(); }
    static void window(void) { MPI_Win_create(u, 16, 1, 0, 0, &w); }
    static void persistent(void) { MPI_Send_init(u, 4, 0, 0, 0, 0, &r); }
    static void message(void) { MPI_Isend(u, 4, 0, 0, 0, 0, &r); }
    static void clears(void) { memset(u, 0, 16); }
    static void ends(void) { atexit(end); }
    int main(void) { calls(); window(); persistent(); message(); clears(); ends(); return 0; }
    """
    assert keeping(text) == {"gives", "calls", "window", "persistent", "main"}


def test_a_function_that_is_not_understood_may_keep_anything() -> None:
    text = 'static void f(void) { __asm__("nop"); } static void g(void) {} int main(void) { f(); g(); return 0; }'
    assert keeping(text) == {"f", "main"}


# --- the functions of a program as instructions -----------------------------------------------------------------------


def test_functions_are_lowered_once_on_first_use() -> None:
    found = around("static int f(void) { return 1; } int main(void) { return f(); }").lowerings
    assert found.done == {}
    body = found.get("main")
    assert body is not None
    assert [c.callee for c in called_in(body)] == [ins.AddrFunc(next(k for k in found.functions if k.endswith("f")))]
    assert found.get("main") is body
    assert list(found.done) == ["main"]
    assert found.get("printf") is None
