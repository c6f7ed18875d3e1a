"""From expressions and statements to instructions: one construct a test, checked by executing the instructions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from core_support import blocks_between, lowered

from opi_xform.ir import instr as ins

HEAD = "struct pair { int a, b; }; static int t[8]; static struct pair s, u; int put(int);\n"
BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "/": lambda a, b: int(a / b),
    "%": lambda a, b: a - b * int(a / b),
    "&": operator.and_,
    "|": operator.or_,
    "<<": operator.lshift,
}


def execute(text: str, x: int = 0) -> tuple[int, list[int]]:
    """``int f(int x)`` run instruction by instruction: what it returns, and what it passed to put(), in order."""
    low = lowered(HEAD + text)
    cells: dict[object, Any] = {}  # by variable, temporary or (variable, offset); an address is such a pair
    names = {key: v.name for key, v in low.function.variables.items()}
    cells["x"] = x
    calls: list[int] = []

    def place(operand: ins.Operand) -> Any:
        match operand:
            case ins.AddrVar(key=key):
                return names.get(key, key.split(":")[-1]), 0
            case ins.PtrAdd(base=base, index=index, scale=scale):
                name, offset = place(base)
                return name, offset + value(index) * scale
            case ins.Temp(number=n):
                return cells[("t", n)]
            case ins.Var(key=key):
                return cells[names[key]]
        raise AssertionError(operand)

    def value(operand: ins.Operand) -> Any:
        match operand:
            case ins.Const(value=v):
                return v
            case ins.Var(key=key):
                return cells[names[key]]
            case ins.Temp(number=n):
                return cells[("t", n)]
            case ins.Op(op="neg", args=(a,)):
                return -value(a)
            case ins.Op(op="not", args=(a,)):
                return int(not value(a))
            case ins.Op(op="cast", args=(a,)):
                return value(a)
            case ins.Op(op="ptrdiff", args=(a, b)):
                return place(a)[1] - place(b)[1]
            case ins.Op(op=op, args=(a, b)):
                return int(BINARY[op](value(a), value(b)))
            case ins.AddrVar() | ins.PtrAdd():
                return place(operand)
        raise AssertionError(operand)

    at = 0
    for _ in range(1000):
        following = low.succs[at]
        chosen = 0
        for i in low.blocks[at]:
            match i:
                case ins.Define(target=target, value=v):
                    key = names[target.key] if isinstance(target, ins.Var) else ("t", target.number)
                    cells[key] = value(v)
                case ins.Load(target=target, address=a):
                    cells[("t", target.number)] = cells.get(place(a), 0)
                case ins.Store(address=a, value=v):
                    cells[place(a)] = value(v)
                case ins.CopyBytes(target=to, source=origin, size=size):
                    (name, o), (other, p) = place(to), place(origin)
                    for k in range(0, size or 0, 4):
                        cells[(name, o + k)] = cells.get((other, p + k), 0)
                case ins.CallInstr(target=target, args=args):
                    calls.append(value(args[0]))
                    if target is not None:
                        cells[("t", target.number)] = calls[-1]
                case ins.Branch(cond=cond):
                    chosen = 0 if value(cond) else 1
                case ins.SwitchOn(value=v, cases=cases):
                    got = value(v)
                    hits = [k for k, c in enumerate(cases) if c is not None and c[0] <= got <= c[1]]
                    chosen = hits[0] if hits else cases.index(None)
                case ins.ReturnInstr(value=v):
                    return (value(v) if v is not None else 0), calls
                case ins.Birth():
                    pass
                case _:
                    raise AssertionError(i)
        if not following:
            return 0, calls
        at = following[chosen]
    raise AssertionError("no end")


def returns(body: str, x: int = 0) -> int:
    return execute(f"int f(int x) {{ {body} }}", x)[0]


@pytest.mark.parametrize(
    ("body", "x", "expected"),
    [
        ("return x++ * 10 + x;", 3, 34),
        ("return ++x * 10 + x;", 3, 44),
        ("int y = x--; return y * 10 + x;", 3, 32),
        ("int y = --x; return y * 10 + x;", 3, 22),
        ("t[1] = 5; int y = t[1]++; return y * 10 + t[1];", 0, 56),
        ("t[1] = 5; int y = --t[1]; return y * 10 + t[1];", 0, 44),
        ("x += 4; x *= 2; x -= 1; return x;", 1, 9),
        ("t[x] = 7; t[x] <<= 2; return t[x];", 3, 28),
        ("int y = x = 5; return y + x;", 1, 10),
        ("int y = (x += 2); return y;", 1, 3),
        ("return (x = 2, x + 1);", 9, 3),
        ("return x ? 1 : 2;", 5, 1),
        ("return x ? 1 : 2;", 0, 2),
        ("return !x;", 3, 0),
        ("return -x + +x;", 3, 0),
        ("return sizeof(double[3]) + sizeof t + sizeof s;", 0, 64),
        ("return sizeof(x++) * 10 + x;", 2, 42),
        ("s.a = 1; s.b = 2; u = s; s.b = 9; return u.a * 10 + u.b;", 0, 12),
        ("struct pair z = { 3, 4 }; u = z; return u.b;", 0, 4),
        ("struct pair *p = &s; p->b = 6; return s.b;", 0, 6),
        ("return x > 2 && x < 5;", 3, 1),
        ("return x > 2 && x < 5;", 7, 0),
        ("return x < 2 || x > 5;", 7, 1),
        ("return x < 2 || x > 5;", 3, 0),
        ("switch (x) { case 1: return 5; case -3: return 6; default: return 7; }", -3, 6),
        ("switch (x) { default: x = 9; case 1: return x; case 2: return 5; }", 4, 9),
        ("switch (x) { default: x = 9; case 1: return x; case 2: return 5; }", 2, 5),
        ("switch (x % 4) { case 1: case 2: x += 10; break; case 3: x += 20; } return x;", 6, 16),
        ("switch (x % 4) { case 1: case 2: x += 10; break; case 3: x += 20; } return x;", 8, 8),
        ("switch (x) { case -4 ... -2: return 1; case 3: return 2; } return 3;", -3, 1),
    ],
)
def test_values(body: str, x: int, expected: int) -> None:
    assert returns(body, x) == expected


@pytest.mark.parametrize(
    ("body", "x", "expected"),
    [
        ("return put(0) && put(1);", 0, [0]),
        ("return put(2) && put(1);", 0, [2, 1]),
        ("return put(2) || put(1);", 0, [2]),
        ("return put(0) || put(1);", 0, [0, 1]),
        ("if (put(1) && (put(0) || put(3))) put(4); else put(5); return 0;", 0, [1, 0, 3, 4]),
        ("if (!(put(0) || !put(2))) put(4); return 0;", 0, [0, 2, 4]),
        ("if ((put(0) != 0) & (put(1) != 0)) put(4); else put(5); return 0;", 0, [0, 1, 5]),
        ("if ((put(2) != 0) & (put(1) != 0)) put(4); else put(5); return 0;", 0, [2, 1, 4]),
        ("if ((put(2) > 1) | !put(1)) put(4); return 0;", 0, [2, 1, 4]),
        ("if (((put(0) > 1) | (put(2) > 1)) & !put(0)) put(4); return 0;", 0, [0, 2, 0, 4]),
        ("if (!((put(0) > 1) | ((put(2) > 1) & (put(1) > 1)))) put(4); return 0;", 0, [0, 2, 1, 4]),
        ("if (put(1) & put(2)) put(4); else put(5); return 0;", 0, [1, 2, 5]),
        ("return x ? put(1) : put(2);", 0, [2]),
        ("put(1), put(2); return 0;", 0, [1, 2]),
        ("for (put(1); x < 2; put(2), x++) put(3); return 0;", 0, [1, 3, 2, 3, 2]),
        ("while (x < 3) { x++; if (x == 2) continue; put(x); } return 0;", 0, [1, 3]),
        ("do { put(x); if (x == 1) continue; } while (++x < 3); return 0;", 0, [0, 1, 2]),
        ("for (;;) { if (x == 2) break; put(x++); } return 0;", 0, [0, 1]),
        ("switch (x) { case 1: put(1); case 2: put(2); break; default: put(9); } return 0;", 1, [1, 2]),
        ("switch (x) { case 1: put(1); case 2: put(2); break; default: put(9); } return 0;", 2, [2]),
        ("switch (x) { case 1: put(1); case 2: put(2); break; default: put(9); } return 0;", 5, [9]),
        ("switch (x) { put(8); case 1: put(1); } put(7); return 0;", 3, [7]),
        ("switch (x) { case 1: for (; x < 3; x++) { case 5: put(x); } } return 0;", 5, [5]),
        ("again: put(x); if (++x < 3) goto again; return 0;", 0, [0, 1, 2]),
        ("goto out; put(1); out: put(2); return 0;", 0, [2]),
        ("if (x) return 1; put(3); return 0;", 1, []),
        ("{ int x = 5; put(x); } put(1); return 0;", 1, [5, 1]),
    ],
)
def test_order(body: str, x: int, expected: list[int]) -> None:
    assert execute(f"int f(int x) {{ {body} }}", x)[1] == expected


def test_a_value_that_is_changed_later_is_kept() -> None:
    """``a[i] = i++`` is not C, but ``f(i++) + i`` after a sequence point is: the old value survives the increment."""
    assert execute("int f(int x) { int y = (put(x++), x); return y; }", 4) == (5, [4])


def test_pointer_arithmetic_is_in_bytes() -> None:
    low = lowered("double f(double *p, int i) { return p[i] + *(p + 2) + *(3 + p) + p[-1]; }")
    loads = [i for b in low.blocks for i in b if isinstance(i, ins.Load)]
    assert all(isinstance(i.address, ins.PtrAdd) and i.address.scale == 8 for i in loads)
    low = lowered("void f(short *p) { p--; p += 3; }")
    steps = [i.value for b in low.blocks for i in b if isinstance(i, ins.Define)]
    assert [s.scale for s in steps if isinstance(s, ins.PtrAdd)] == [-2, 2]


def test_rows_know_their_size() -> None:
    low = lowered("static double m[4][5]; double f(int i, int j) { return m[i][j]; }")
    (load,) = [i for b in low.blocks for i in b if isinstance(i, ins.Load)]
    inner = load.address
    assert isinstance(inner, ins.PtrAdd)
    assert (inner.scale, inner.row) == (8, 40)
    assert isinstance(inner.base, ins.PtrAdd)
    assert (inner.base.scale, inner.base.row) == (40, 160)


@pytest.mark.parametrize(
    ("written", "row"),
    [("p->l + i", 24), ("i + p->l", 24), ("p->m[1] + i", 0), ("p->q + i", 0), ("p->l - i", 0), ("&p->l[i]", 24)],
)
def test_a_sum_stays_inside_the_array_of_a_struct(written: str, row: int) -> None:
    low = lowered(f"struct s {{ int l[6], m[2][3], *q, e; }}; int f(struct s *p, int i) {{ return *({written}); }}")
    load = [i for b in low.blocks for i in b if isinstance(i, ins.Load)][-1]
    assert isinstance(load.address, ins.PtrAdd)
    assert load.address.row == row


def test_what_is_always_done_is_no_branch() -> None:
    for test, branches in (("1", 0), ("2 > 1", 0), ("x", 1)):
        low = lowered(f"int f(int x) {{ int y = 0; if ({test}) y = x; return y; }}")
        assert sum(isinstance(i, ins.Branch) for b in low.blocks for i in b) == branches


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("int m[9][x]", "m[2][1]"),
        ("int m[9][x]", "*(*(m + 2) + 1)"),
        ("int m[9][x]", "(*(2 + m))[1]"),
        ("int m[9][x]", "(&m[3] - 1)[0][1]"),
        ("int w[60], (*m)[x] = (int(*)[x])w", "m[2][1]"),
        ("int m[9][x][1]", "m[2][1][0]"),
        ("int m[9][1][x]", "m[2][0][1]"),
    ],
)
def test_rows_of_variable_length_are_as_long_as_they_were_declared(declared: str, written: str) -> None:
    assert returns(f"{declared}; int *flat = (int *)m; x = 100; {written} = 7; return flat[2 * 5 + 1];", 5) == 7


def test_sizes_of_variable_length_are_those_of_the_declaration() -> None:
    body = "int m[3][x], (*p)[x] = m + 2; x = 100; put(p - m);"
    body += "put(sizeof m); put(sizeof m[0]); put(sizeof *m); put(sizeof m[0][0]); return 0;"
    assert execute(f"int f(int x) {{ {body} }}", 5)[1] == [2, 60, 20, 20, 4]


def test_rows_of_a_parameter() -> None:
    text = "int f(int x, int m[x + 1][x], int (*p)[x]);\nint f(int x, int m[x + 1][x], int (*p)[x])\n"
    low = lowered(HEAD + text + "{ x = 1; m[2][1] = 3; p[2][1] = 4; return 0; }")
    stores = [i.address for block in low.blocks for i in block if isinstance(i, ins.Store)]
    steps = [a.base.index for a in stores if isinstance(a, ins.PtrAdd) and isinstance(a.base, ins.PtrAdd)]
    assert len(steps) == 2
    assert all(isinstance(s, ins.Op) and s.op == "*" and isinstance(s.args[1], ins.Temp) for s in steps)


def test_unsigned_arithmetic_is_marked() -> None:
    low = lowered("int f(unsigned a, int b) { if (a < 3) return 1; if (b < 3) return 2; return 0; }")
    conditions = [i.cond for b in low.blocks for i in b if isinstance(i, ins.Branch)]
    assert [c.unsigned for c in conditions if isinstance(c, ins.Op)] == [True, False]


def test_volatile_is_never_known() -> None:
    low = lowered("static volatile int v; int f(void) { return v; }")
    (value,) = [i.value for b in low.blocks for i in b if isinstance(i, ins.ReturnInstr)]
    (read,) = [i for b in low.blocks for i in b if isinstance(i, ins.Load)]
    assert value == read.target
    assert read.type.volatile


def test_volatile_access_to_a_plain_variable() -> None:
    """Who reads it so expects it to change behind the program's back; a plain access is to the variable as before."""
    low = lowered(
        "static int v; int f(void) { *(volatile int *)&v = 2; int a = *(volatile int *)&v; return *(int *)&v; }"
    )
    instrs = [i for b in low.blocks for i in b]
    assert [i.type.volatile for i in instrs if isinstance(i, (ins.Load, ins.Store))] == [True, True]
    (value,) = [i.value for i in instrs if isinstance(i, ins.ReturnInstr)]
    assert isinstance(value, ins.Var)


def test_statements_know_their_place() -> None:
    low = lowered(HEAD + "int f(int x) { if (x) put(1); else { put(2); } return 0; }")
    calls = [low.stmts[i.stmt] for b in low.blocks for i in b if isinstance(i, ins.CallInstr)]
    assert [(c.role, c.in_block) for c in calls] == [("then", False), ("item", True)]


def test_what_is_refused() -> None:
    assert lowered("int f(int x) { void *p = &&a; goto *p; a: return x; }").refused
    assert lowered("int f(int x) { return x; }").refused == ""


def test_unreachable_code_is_no_part_of_the_flow() -> None:
    low = lowered(HEAD + "int f(int x) { return 1; put(2); return 3; }")
    reached = [i for b in blocks_between(low) for i in low.blocks[b]]
    assert not any(isinstance(i, ins.CallInstr) for i in reached)


def test_the_left_side_is_read_before_a_call_on_the_right() -> None:
    low = lowered("static int n; int put(int); int f(int x) { return n + put(x); }")
    (returned,) = [i for block in low.blocks for i in block if isinstance(i, ins.ReturnInstr)]
    assert isinstance(returned.value, ins.Op)
    assert all(isinstance(side, ins.Temp) for side in returned.value.args)
