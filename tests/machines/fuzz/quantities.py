"""Numbers that take a way through memory before they are used: members, unions, other widths, counters, calls.

A wrong idea of such a number is a wrong idea of how much is packed or sent, so each way leaves another value about that
the place had before.  Everything is defined C on machines with little-endian two's complement integers.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.machines.fuzz.forms import Text


@dataclass(slots=True)
class Scene:
    """A scenario that is being written: ``head`` stands at file level, ``body`` inside the function ``name``.

    parts: of an allocation with room for one more part: its base, its parts and their size, and for what (``key``).
    """

    rng: random.Random
    name: str
    head: Text = field(default_factory=Text)
    body: Text = field(default_factory=Text)
    used: int = 0
    parts: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.body.depth = 1

    def fresh(self, stem: str) -> str:
        """A name of this scenario's own."""
        self.used += 1
        return f"{self.name}_{stem}{self.used}"

    def done(self) -> str:
        body = "\n".join(self.body.lines)
        return (
            "\n".join(self.head.lines)
            + f'\nstatic void {self.name}(void)\n{{\n{body}\n    report("{self.name}");\n}}\n'
        )


def _plain(s: Scene, v: int, old: int) -> str:
    return str(v)


def _variable(s: Scene, v: int, old: int) -> str:
    x = s.fresh("n")
    s.body.line(f"int {x} = {v} + zero;")
    return x


def _overwritten(s: Scene, v: int, old: int) -> str:
    """A variable with another value first, changed through a pointer to it or to its bytes."""
    x, p = s.fresh("n"), s.fresh("p")
    s.body.line(f"int {x} = {old};")
    s.body.line(
        s.rng.choice(
            (
                f"int *{p} = &{x}; *{p} = {v};",
                f"unsigned char *{p} = (unsigned char *)&{x}; {p}[0] = {v};",
                f"char *{p} = (char *)&{x}; memset({p}, 0, sizeof {x}); *{p} = {v};",
                f"int {p} = {v}; memcpy(&{x}, &{p}, sizeof {x});",
                f"void *{p} = &{x}; if (seven) *(int *){p} = {v};",
                f"int *{p}[2] = {{&seven, &{x}}}; *{p}[1 + zero] = {v};",
            )
        )
    )
    return x


def _union(s: Scene, v: int, old: int) -> str:
    """Written as one type, read as another."""
    x = s.fresh("u")
    where = s.rng.random() < 0.4
    text = f"union {{ int n; unsigned u; short h[2]; unsigned char c[4]; signed char sc; long l; }} {x};"
    (s.head if where else s.body).line(f"static {text}" if where else text)
    write = s.rng.choice((f"{x}.l = {old}; {x}.c[0] = {v};", f"{x}.l = {old}L << 32; {x}.n = {v};", f"{x}.l = {v};"))
    s.body.line(write)
    return s.rng.choice((f"{x}.n", f"{x}.h[0]", f"{x}.c[0]", f"(int){x}.u", f"{x}.n"))


def _wrapped(s: Scene, v: int, old: int) -> str:
    """A value that only fits after the conversion that its type makes."""
    x = s.fresh("n")
    kind, width = s.rng.choice(
        (("unsigned char", 256), ("short", 65536), ("unsigned short", 65536), ("signed char", 256))
    )
    s.body.line(f"{kind} {x} = ({kind})({width + v} + zero);")
    return s.rng.choice((x, f"(int){x}", f"({x} + zero)"))


def _unsigned(s: Scene, v: int, old: int) -> str:
    x = s.fresh("n")
    s.body.line(f"unsigned {x} = {old}u;")
    s.body.line(f"{x} -= {old - v}u;" if old > v else f"{x} = {v}u - (unsigned)zero;")
    return f"(int){x}"


def _member(s: Scene, v: int, old: int) -> str:
    """A member of a struct, set twice, by two names."""
    tag, x = s.fresh("t"), s.fresh("b")
    static = s.rng.random() < 0.5
    s.head.line(f"struct {tag} {{ int other; int n; int last[3]; }};")
    if static:
        s.head.line(f"static struct {tag} {x} = {{{old}, {old}, {{{old}, {old}, {old}}}}};")
    else:
        s.body.line(f"struct {tag} {x} = {{{old}, {old}, {{{old}, {old}, {old}}}}};")
    member = s.rng.choice(("n", "last[1]", "last[2]"))
    how = s.rng.choice(("name", "pointer", "function", "copy", "index"))
    if how == "name":
        s.body.line(f"{x}.{member} = {v};")
    elif how == "pointer":
        s.body.line(f"struct {tag} *{x}_p = &{x};")
        s.body.line(f"{x}_p->{member} = {v} + zero;")
    elif how == "function":
        s.head.line(f"static void {x}_set(struct {tag} *b, int n) {{ b->{member} = n; }}")
        s.body.line(f"{x}_set(&{x}, {old});")
        s.body.line(f"{x}_set(&{x}, {v});")
    elif how == "copy":
        s.body.line(f"struct {tag} {x}_c = {x};")
        s.body.line(f"{x}_c.{member} = {v};")
        s.body.line(f"{x} = {x}_c;")
    else:
        s.body.line(f"{x}.last[1 + zero] = {v};")
        return f"{x}.last[1]"
    return f"{x}.{member}"


def _called(s: Scene, v: int, old: int) -> str:
    """Returned from a function that is called with different constants."""
    f, x = s.fresh("f"), s.fresh("n")
    s.head.line(f"static int {f}(int k)")
    s.head.block(
        "",
        s.rng.choice(
            (
                ["return k + 1;"],
                [f"if (k == {old})", f"    return {old};", "return k + 1;"],
                ["static int calls;", "calls++;", "return k + (calls > 0);"],
                ["int n = 0;", "while (n <= k)", "    n++;", "return n;"],
                ["switch (k) {", f"case {old}: return 2;", f"case {v - 1}: return {v};", "default: return 3;", "}"],
            )
        ),
    )
    s.body.line(f"int {x} = {f}({old});")
    s.body.line(f"{x} = {f}({v - 1});")
    return x


def _out_parameter(s: Scene, v: int, old: int) -> str:
    f, x = s.fresh("f"), s.fresh("n")
    s.head.line(f"static void {f}(int *n, int k)")
    s.head.block(
        "",
        s.rng.choice(
            (["*n = k;"], ["*n = 0;", "for (int i = 0; i < k; i++)", "    (*n)++;"], ["if (k > 0)", "    *n = k;"])
        ),
    )
    s.body.line(f"int {x} = {old};")
    if s.rng.random() < 0.5:
        s.body.line(f"{f}(&{x}, {old});")
    s.body.line(f"{f}(&{x}, {v});")
    return x


def _sized(s: Scene, v: int, old: int) -> str:
    x = s.fresh("a")
    s.body.line(f"struct {{ char c[{v}]; }} {x}; {x}.c[0] = 1;")
    s.body.line(f"total += {x}.c[0];")
    return f"(int)sizeof {x}"


def _chosen(s: Scene, v: int, old: int) -> str:
    x = s.fresh("n")
    s.body.line(f"int {x} = seven == 7 ? {v} : {old};")
    return s.rng.choice((x, f"(seven > 6 ? {x} : {old})"))


def _bits(s: Scene, v: int, old: int) -> str:
    x = s.fresh("w")
    s.body.line(f"struct {{ unsigned a : 3; unsigned n : 6; int b : 7; }} {x} = {{{old % 8}, {v}, 5}};")
    s.body.line(f"{x}.a = 7; {x}.b = -1;")
    return f"(int){x}.n"


def _floating(s: Scene, v: int, old: int) -> str:
    x = s.fresh("x")
    s.body.line(f"double {x} = {v} + 0.25;")
    return f"(int){x}"


def _counted(s: Scene, v: int, old: int) -> str:
    """Counted in a loop from zero or another value: a variable, an element, a member, what a pointer points to."""
    x, rng = s.fresh("n"), s.rng
    start = rng.choice((0, old))
    kind = rng.choice(("variable", "element", "member", "pointer", "copied"))
    step = "++" if v > start else "--"
    count = f"{abs(v - start)} + zero"
    if kind == "element":
        s.head.line(f"static int {x}[3];")
        place = there = f"{x}[1]"
        s.body.line(f"{place} = {start}; {x}[2] = {old};")
    elif kind == "member":
        s.body.line(f"struct {{ int w, n; }} {x} = {{{old}, {start}}};")
        place = there = f"{x}.n"
    elif kind == "pointer":
        s.body.line(f"int {x} = {start}, *{x}_p = &{x};")
        place, there = x, f"(*{x}_p)"
    elif kind == "copied":
        s.body.line(f"int {x} = {start};")
        s.body.line(f"for (int i = 0, k = {start}; i < {count}; i++) {{ k{step}; memcpy(&{x}, &k, sizeof {x}); }}")
        return x
    else:
        s.body.line(f"int {x} = {start};")
        place = there = x
    s.body.line(f"for (int i = 0; i < {count}; i++) {there}{step};")
    return place


WAYS: tuple[Callable[[Scene, int, int], str], ...] = (
    _plain, _plain, _variable, _variable, _overwritten, _union, _wrapped, _unsigned, _member, _called, _out_parameter,
    _sized, _chosen, _bits, _floating, _counted,
)  # fmt: skip


def number(s: Scene, v: int, plain: float = 0.5) -> str:
    """An expression without side effects whose value is ``v`` (7 to 60) in all of the function's rest."""
    way = s.rng.choice((_plain, _variable)) if s.rng.random() < plain else s.rng.choice(WAYS)
    return way(s, v, s.rng.choice((v + 3, v - 3, v + 1)))
