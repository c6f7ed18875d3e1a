"""Functions that set their caller's pointer, and pointers whose address is given to functions."""

from __future__ import annotations

import pytest
from core_support import around, called_in

from opi_xform.ir import instr as ins
from opi_xform.program.addressed import Addressed, plain_pointer
from opi_xform.program.handed_out import HandedOut, put_back
from opi_xform.program.out_parameters import OutParameters, returning

HEAD = """
void *malloc(unsigned long); void free(void *); void exit(int); int puts(const char *);
static double *b, *c; static int count;
"""


def sets(function: str, call: str = "init(8, &b);", more: str = "") -> list[str]:
    """The variables that calls of ``init`` set through its parameter."""
    found = around(f"{HEAD}{function} int main(void) {{ {call} {more} return b != 0; }}")
    setting = found.bodies.setting
    assert isinstance(setting, OutParameters)
    out = []
    for instr in called_in(found.lowerings.get("main"), "init"):
        made = setting.set_by(instr)
        if made is not None:
            out.append(found.whole.variables[made[1]].name)
    return out


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("void init(int n, double **p) { *p = malloc(n * 8); }", ["b"]),
        ('void init(int n, double **p) { p[0] = malloc(n * 8); if (!*p) { puts("no"); exit(1); } }', ["b"]),
        ("void init(int n, double **p) { if (*p) free(*p); *p = malloc(n * 8); }", ["b"]),
        ("int init(int n, double **p) { *p = malloc(n * 8); return 0; }", []),  # a number is returned as well
        ('void init(int n, double **p) { *p = malloc(n * 8); puts("made"); }', []),
        ("void init(int n, double **p) { p[1] = malloc(n * 8); }", []),
        ("void init(int n, double **p) { double **q = p; *q = malloc(n * 8); }", []),
        ("void init(int n, double **p) { b = malloc(n * 8); *p = malloc(8); }", []),  # it names the pointer itself
        ("void init(int n, double **p) { }", []),
    ],
)
def test_functions_that_only_set_a_pointer(function: str, expected: list[str]) -> None:
    assert sets(function) == expected


def test_nobody_else_has_the_pointers_address() -> None:
    function = "void init(int n, double **p) { *p = malloc(n * 8); }"
    assert sets(function, "init(8, &b); init(4, &c);") == ["b", "c"]
    assert sets(function, "double **q = &b; init(8, &b); init(4, &c);", "*q = c;") == ["c"]
    assert sets("static double **at = &b; " + function, "init(8, &b); init(4, &c);", "*at = c;") == ["c"]


def test_blocks_from_which_a_function_returns() -> None:
    found = around(HEAD + "int main(int n, char **v) { if (n > 1) exit(1); return 0; }")
    body = found.lowerings.get("main")
    assert body is not None
    (leaving,) = [i for i, block in enumerate(body.blocks) if any(isinstance(x, ins.CallInstr) for x in block)]
    ways = returning(body, found.effects)
    assert 0 in ways
    assert leaving not in ways


# --- functions that hand out fresh memory -----------------------------------------------------------------------------


def handed(function: str, call: str = "get(&t.at, 8); get(&b, 9);") -> list[str]:
    """How the pointers are written that calls of ``get`` set."""
    head = HEAD + "struct s { double *at; int n; } t, *list; double *rows[4];"
    found = around(f"{head}{function} int main(int n, char **v) {{ {call} return t.at == b; }}")
    giving = found.bodies.handed_out
    assert isinstance(giving, HandedOut)
    main = found.lowerings.get("main")
    assert main is not None
    out = []
    for instr in called_in(main, "get"):
        made = giving.of(main, instr)
        if made is not None:
            store = put_back(made, instr, ins.Temp(7))
            assert store.value == ins.Temp(7)
            assert store.address == made.address
            out.append(type(made.lvalue).__name__)
    return out


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("void get(double **p, int n) { *p = malloc(n * 8); }", ["Member", "VarRef"]),
        ("int get(double **p, int n) { *p = malloc(n * 8); if (!*p) return 1; return 0; }", ["Member", "VarRef"]),
        (
            "void get(double **p, int n) { *p = malloc(n * 8); for (int i = 0; i < n; i++) (*p)[i] = 0; }",
            ["Member", "VarRef"],
        ),
        ("void get(double **p, int n) { if (n) *p = malloc(n * 8); }", []),  # not on every way
        ("void get(double **p, int n) { free(*p); *p = malloc(n * 8); }", []),  # it reads what was there
        ("void get(double **p, int n) { *p = malloc(n * 8); count = n; }", []),
        ("void get(double **p, int n) { *p = malloc(n * 8); c = *p; }", []),
        ("void get(double **p, char n) { *p = malloc(n * 8); }", []),  # the call says another number
        ("void get(double **p, int n) { *p = c; }", []),
    ],
)
def test_functions_that_hand_out_fresh_memory(function: str, expected: list[str]) -> None:
    assert handed(function) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("get(&t.at, 8);", []),  # the only call stays a copy
        ("for (int i = 0; i < n; i++) get(&rows[i], 8);", ["Index"]),  # of a row it does not
        ("if (get(&t.at, 8)) return 1; get(&b, 9);", ["VarRef"]),  # a call that is no statement of its own
        ("get(&list[n++].at, 8); get(&b, 9);", ["VarRef"]),  # something else happens in it
        ("get(&list[n].at, 8); get(&b, 9);", ["Member", "VarRef"]),
    ],
)
def test_calls_that_can_be_replaced(call: str, expected: list[str]) -> None:
    assert handed("int get(double **p, int n) { *p = malloc(n * 8); return 0; }", call) == expected


# --- pointers whose address is given to functions ---------------------------------------------------------------------


def test_pointers_whose_address_is_given_away_are_loaded_and_stored() -> None:
    text = (
        HEAD + 'void set(double **p, int n) { *p = malloc(n); puts("made"); }'
        "int main(void) { double *mine; set(&mine, 8); set(&b, 8); mine = b + 1; c = b; return 0; }"
    )
    found = around(text)
    addressed = found.bodies.addressed
    assert isinstance(addressed, Addressed)
    known = {**found.whole.variables}
    assert {known[key].name for key in addressed.variables} == {"mine", "b"}
    main = found.lowerings.get("main")
    assert main is not None
    body = addressed.body(main)
    instrs = [i for block in body.blocks for i in block]
    loads = [
        known[i.address.key].name for i in instrs if isinstance(i, ins.Load) and isinstance(i.address, ins.AddrVar)
    ]
    stores = [
        known[i.address.key].name for i in instrs if isinstance(i, ins.Store) and isinstance(i.address, ins.AddrVar)
    ]
    assert loads == ["b", "b"]
    assert stores == ["mine"]
    set_ = found.lowerings.get("set")
    assert set_ is not None
    assert addressed.body(set_) is set_


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("double *p", True),
        ("double *const p = 0", False),
        ("double *volatile p", False),
        ("_Thread_local double *p", False),
    ],
)
def test_pointers_that_can_be_set_by_this_thread_alone(declared: str, expected: bool) -> None:
    found = around(f"static {declared}; int main(void) {{ return p != 0; }}")
    (variable,) = [v for v in found.whole.variables.values() if v.name == "p"]
    assert plain_pointer(variable) is expected
