"""Functions that hand out memory and do more with it, and where else they run."""

from __future__ import annotations

import pytest
from ownership_support import shared, source

from opi_xform.ownership.allocation.allocations import find_allocations
from opi_xform.ownership.allocation.also_run import also_run, run_unwatched

TOP = "int atexit(void (*)(void)); void unknown(void);\n"
FILLED = """static double *get(int k)
{
    double *p = malloc(k * 8);
    for (int i = 0; i < k; i++)
        p[i] = i;
    p[1] = p[0];
    return p;
}
"""
DONE = "static void done(void)\n{\n    double *z = get(2);\n    free(z);\n}\n"
SEND = "MPI_Send(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);"


def main(top: str, body: str) -> str:
    return f"{TOP}{top}int main(int argc, char **argv)\n{{\n{body}\n    return 0;\n}}\n"


def test_a_function_that_the_graph_shows_runs_nowhere_else() -> None:
    found = source(main(FILLED, f"double *b = get(10);\n{SEND}\nfree(b);"))
    assert not also_run(found.program)
    assert not run_unwatched(found.program)


def test_what_a_function_calls_that_is_not_followed_runs_there_too() -> None:
    found = source(main(FILLED + DONE, f"atexit(done);\ndouble *b = get(10);\n{SEND}\nfree(b);"))
    names = {found.program.functions[key].name for key in run_unwatched(found.program)}
    assert names == {"done", "get"}


def test_unknown_code_runs_what_the_program_took_the_address_of() -> None:
    body = f"static void (*kept)(void);\nkept = done;\nunknown();\ndouble *b = get(10);\n{SEND}\nfree(b);"
    found = source(main(FILLED + DONE, body))
    assert {found.program.functions[key].name for key in also_run(found.program)} == {"done", "get"}


@pytest.mark.parametrize(
    ("top", "body", "local"),
    [
        (FILLED, f"double *b = get(10);\n{SEND}\nfree(b);", True),
        (FILLED.replace("return p;", "p = malloc(8); return p;"), f"double *b = get(10);\n{SEND}\nfree(b);", False),
        (FILLED.replace("*p =", "*const p ="), f"double *b = get(10);\n{SEND}\nfree(b);", False),
        (FILLED, f"double *b = get(10), *c = get(3);\n{SEND}\nfree(b);\nfree(c);", False),
        (FILLED + DONE, f"atexit(done);\ndouble *b = get(10);\n{SEND}\nfree(b);", False),
    ],
)
def test_memory_that_a_function_gives_a_local_variable_first(top: str, body: str, local: bool) -> None:
    found = source(main(top, body))
    at = shared(found)
    allocations = find_allocations(found.program, at.flow, at.defs, found.buffers["b"])
    assert bool(allocations and all(one.local for one in allocations)) is local
