"""Variables that belong to others, and items of Fortran's lists, which are read or written by the same function."""

from __future__ import annotations

import pytest
from core_support import called_in, lowered, unit

from opi_xform.effects.fortran_lists import ITEMS, SIZED, told_apart
from opi_xform.effects.model import Effects
from opi_xform.effects.outside import foreign
from opi_xform.effects.table import load_effects
from opi_xform.graph.whole import merge
from opi_xform.ir import instr as ins

EFFECTS = load_effects()


@pytest.mark.parametrize(
    ("declared", "complete", "expected"),
    [
        ("extern int x;", True, True),
        ("extern int x; int x;", True, False),
        ("extern int x; int x = 3;", True, False),
        ("extern int x;", False, False),  # the rest of the program may define it
        ("int x;", True, False),
        ("static int x;", True, False),
    ],
)
def test_who_owns_a_variable(declared: str, complete: bool, expected: bool) -> None:
    whole = merge([unit(f"{declared} int main(void) {{ return x; }}")])
    assert ("x" in foreign(whole.variables, complete)) is expected


def test_the_c_librarys_own_are_never_the_programs() -> None:
    whole = merge([unit("int signgam; static int optind; int main(void) { return signgam + optind; }")])
    assert foreign(whole.variables, True) == foreign(whole.variables, False) == {"signgam"}


HEAD = """
int s_wsfe(void *), e_wsfe(void), s_rsfe(void *), e_rsfe(void), do_fio(int *, char *, int); void unknown(void);
double sqrt(double);
"""


def writing(body: str) -> list[bool]:
    """Of each item, whether it is one of a list of output."""
    found = told_apart(lowered(f"{HEAD}void f(int *n, char *p, int k, double x) {{ {body} }}"), EFFECTS)
    names = [c.callee.key for c in called_in(found) if isinstance(c.callee, ins.AddrFunc)]
    return [name in ITEMS.values() for name in names if name.startswith("do_fio")]


ITEM = "do_fio(n, p, 4);"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"s_wsfe(p); {ITEM} {ITEM} e_wsfe();", [True, True]),
        (f"s_rsfe(p); {ITEM} e_rsfe();", [False]),
        (f"s_wsfe(p); {ITEM} e_wsfe(); s_rsfe(p); {ITEM} e_rsfe();", [True, False]),
        (f"s_wsfe(p); while (k--) {{ {ITEM} }} e_wsfe();", [True]),
        (f"if (k) s_wsfe(p); else s_rsfe(p); {ITEM}", [False]),
        (f"if (k) s_wsfe(p); {ITEM}", [False]),
        (f"s_wsfe(p); unknown(); {ITEM}", [False]),  # it may begin another list
        (f"s_wsfe(p); x = sqrt(x); {ITEM}", [True]),
        (ITEM, [False]),
    ],
)
def test_items_of_a_list_of_output(body: str, expected: list[bool]) -> None:
    assert writing(body) == expected


def test_a_function_without_such_items_stays_as_it_is() -> None:
    body = lowered("void f(void) { }")
    assert told_apart(body, EFFECTS) is body


def item(declared: str, call: str, effects: Effects = EFFECTS) -> ins.CallInstr:
    found = told_apart(lowered(f"{declared} void f(int *n, short *k, char *p) {{ {call} }}"), effects)
    return called_in(found)[-1]


def test_an_item_has_so_many_numbers_of_so_many_bytes() -> None:
    call = item(HEAD, "do_fio(n, p, 4);")
    assert call.callee == ins.AddrFunc(SIZED["do_fio"])
    assert isinstance(call.args[2], ins.Op)
    assert call.args[2].op == "*"


@pytest.mark.parametrize(
    ("declared", "call"),
    [
        ("int do_fio(short *, char *, int);", "do_fio(k, p, 4);"),  # not as in f2c's header
        ("int do_fio(int *, char *, double);", "do_fio(n, p, 4);"),
        ("int do_fio(int *, char *);", "do_fio(n, p);"),
    ],
)
def test_an_item_of_other_types_may_have_any_bytes(declared: str, call: str) -> None:
    assert item(declared, call).callee == ins.AddrFunc("do_fio")


def test_a_function_of_the_program_is_no_item() -> None:
    others = Effects({name: effect for name, effect in EFFECTS.items() if name != "do_fio"})
    assert item(HEAD, "s_wsfe(p); do_fio(n, p, 4);", others).callee == ins.AddrFunc("do_fio")
