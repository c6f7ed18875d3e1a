"""Where the buffers of a scenario live, and the ways in which a function can be given them.

A home has lanes: buffers of one kind that are told apart by a number.  In its texts ``{d}`` stands for that number and
``{p}`` for a prefix that keeps the names of two parameters apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.machines.fuzz.quantities import Scene, number


@dataclass(frozen=True, slots=True)
class View:
    """A way into a function: what it declares, what the caller writes, and a lane's first element inside."""

    declared: str
    given: str
    place: str

    def declaration(self, prefix: str) -> str:
        return self.declared.replace("{p}", prefix)

    def inside(self, prefix: str) -> str:
        return self.place.replace("{p}", prefix)


@dataclass(frozen=True, slots=True)
class Home:
    """``make`` and ``end`` stand in the owner, once or in each turn."""

    place: str
    views: tuple[View, ...]
    make: tuple[str, ...] = ()
    end: tuple[str, ...] = ()

    def at(self, lane: str) -> str:
        return self.place.replace("{d}", lane)


@dataclass(frozen=True, slots=True)
class Want:
    """``defined``: all of it may be read from the beginning."""

    element: str
    size: int
    lanes: int
    defined: bool


def _pointer(want: Want) -> View:
    return View(f"{want.element} *{{p}}", "", "{p}")


def _views(want: Want, place: str, *others: View) -> tuple[View, ...]:
    return (replace(_pointer(want), given=place), *others)


def _row(want: Want, x: str) -> View:
    """The number only, of an object at file level."""
    return View("int {p}d", "{d}", f"{x}[{{p}}d]")


def _size(s: Scene, want: Want) -> str:
    """An expression for the size in bytes, now and then with a side effect that must happen once."""
    rng, unit = s.rng, f"sizeof({want.element})"
    kind = rng.randrange(12)
    if kind == 0:
        k = s.fresh("k")
        s.head.line(f"static int {k} = {want.size - 1};")
        return f"(size_t)++{k} * {unit}"
    if kind == 1:
        k = s.fresh("k")
        s.head.line(f"static size_t {k}(void) {{ total += 1; return {want.size}; }}")
        return f"{k}() * {unit}"
    if kind == 2:
        return f"{number(s, want.size, 0.2)} * {unit}"
    if kind == 3:
        return f"({want.size} + zero) * {unit}"
    return rng.choice((f"{want.size} * {unit}", f"{unit} * {want.size}", f"sizeof({want.element}[{want.size}])"))


def _memory(s: Scene, want: Want, each: bool = False) -> str:
    """The call that makes one lane's memory; ``each``: it runs more than once."""
    rng = s.rng
    if want.defined:
        return f"calloc({want.size}, sizeof({want.element}))"
    if rng.random() < 0.25:
        f = s.fresh("new")
        checks = rng.choice(
            ((), ("if (!p)", "    abort();"), ("if (p == NULL) {", '    printf("no memory\\n");', "    exit(3);", "}"))
        )
        unit = f"sizeof({want.element})" if rng.random() < 0.5 else "sizeof *p"
        s.head.line(f"static {want.element} *{f}(int n)")
        s.head.block("", [f"{want.element} *p = malloc(n * {unit});", *checks, "return p;"])
        return f"{f}({want.size})"
    return f"malloc({want.size} * sizeof({want.element}))" if each else f"malloc({_size(s, want)})"


def _free(s: Scene, place: str) -> str:
    if s.rng.random() < 0.15:
        f = s.fresh("drop")
        s.head.line(
            f"static void {f}(void *p) {{ if (p) free(p); }}"
            if s.rng.random() < 0.5
            else f"static void {f}(void *p) {{ free(p); }}"
        )
        return f"{f}({place});"
    return f"free({place});"


def _lanes(want: Want, text: str) -> tuple[str, ...]:
    """A statement about each lane."""
    if want.lanes == 1:
        return (text.replace("{d}", "0"),)
    return (f"for (int d = 0; d < {want.lanes}; d++) {{ {text.replace('{d}', 'd')} }}",)


def array(s: Scene, want: Want) -> Home:
    """An array, or one of arrays: static, local or with a typedef's type."""
    x = s.fresh("a")
    if s.rng.random() < 0.15 and want.lanes == 1:
        s.head.line(f"typedef {want.element} {x}_t[{want.size}];")
        shape, place = f"{x}_t {x}", x
    elif want.lanes == 1:
        shape, place = f"{want.element} {x}[{want.size}]", x
    else:
        shape, place = f"{want.element} {x}[{want.lanes}][{want.size}]", f"{x}[{{d}}]"
    if s.rng.random() < 0.55:
        s.head.line(f"static {shape};")
        return Home(place, _views(want, place, *((_row(want, x),) if want.lanes > 1 else (View("", "", x),))))
    clear = (f"memset({x}, 0, sizeof {x});",) if want.defined else ()
    return Home(place, _views(want, place), (f"{shape};", *clear))


def _set(s: Scene, want: Want, x: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(its declaration, where it stands alone; what gives a pointer its memory): directly, under a local name first, or
    in a function that has the pointer's address.
    """
    e, way = want.element, s.rng.random()
    inside, asked = way >= 0.75, s.rng.random() < 0.3 and not want.defined
    memory = "malloc(bytes)" if inside and asked else _memory(s, want, inside)
    declared = (f"{e} *{x};",)
    if way < 0.6:
        return (), (f"{x} = {memory};",)
    local = [f"{e} *{x}_t = {memory};", *([f"memset({x}_t, 0, sizeof *{x}_t);"] if s.rng.random() < 0.4 else [])]
    if not inside:
        return declared, (*local, f"{x} = {x}_t;")
    f = s.fresh("set")
    result = s.rng.choice(("void", "int"))
    if s.rng.random() < 0.5:
        body = [*local, f"*p = {x}_t;"]
    else:
        body = [
            f"*p = {memory};",
            *([f"memset(*p, 0, {want.size} * sizeof **p);"] * s.rng.randrange(2)),
        ]
    s.head.line(f"static {result} {f}({e} **p, {'size_t bytes, ' * asked}int print)")
    s.head.block("", [*body, "if (print)", '    printf("set\\n");', *(["return print;"] if result == "int" else [])])
    size = f"{_size(s, want)}, " if asked else ""
    return declared, (f"{f}(&{x}, {size}{s.rng.choice(('zero', '0', 'seven == 8'))});",)


def heap(s: Scene, want: Want) -> Home:
    """One pointer to malloc'ed memory for each lane: a variable, or a table of them (static, local, on the heap)."""
    x, e = s.fresh("h"), want.element
    static = s.rng.random() < 0.4
    if want.lanes == 1:
        declared, make = _set(s, want, x)
        end = _free(s, x)
        views = (View(f"{e} **{{p}}", f"&{x}", "(*{p})"),) * (s.rng.random() < 0.5)
        if static:
            s.head.line(f"static {e} *{x};")
            return Home(x, _views(want, x, View("", "", x), *views), make, (end,))
        return Home(x, _views(want, x, *views), (*declared, *make) if declared else (f"{e} *{make[0]}",), (end,))
    table = s.rng.random() < 0.4
    place = f"{x}[{{d}}]"
    fill, end_all = _lanes(want, f"{place} = {_memory(s, want, True)};"), _lanes(want, _free(s, place))
    views = (View(f"{e} **{{p}}, int {{p}}d", f"{x}, {{d}}", "{p}[{p}d]"),)
    declared = f"{e} **{x}" if table else f"{e} *{x}[{want.lanes}]"
    room = s.rng.choice((f"{want.lanes} * sizeof *{x}", f"{want.lanes} * sizeof({e} *)"))
    first = (f"{x} = malloc({room});",) if table else ()
    last = (f"free({x});",) if table else ()
    if static:
        s.head.line(f"static {declared};")
        return Home(place, _views(want, place, _row(want, x), *views), (*first, *fill), (*end_all, *last))
    begin = (f"{e} *{first[0]}",) if table else (f"{declared};",)
    if table:
        begin = (f"{e} *" + f"*{first[0]}",)
    return Home(place, _views(want, place, *views), (*begin, *fill), (*end_all, *last))


def struct_member(s: Scene, want: Want) -> Home:
    """Pointers in a struct: one, or an array of them; reached by name, pointer or pointer in a struct."""
    tag, x, e = s.fresh("t"), s.fresh("b"), want.element
    many = want.lanes > 1
    more = s.rng.choice(("", "int n; ", "double w[2]; char tag; "))
    void = not many and s.rng.random() < 0.1
    member = f"{e} *p[{want.lanes}];" if many else "void *p;" if void else f"{e} *p;"
    s.head.line(f"struct {tag} {{ {more}{member} int last; }};")
    where = s.rng.choice(("static", "local", "heap", "deep"))
    access = {"static": f"{x}.p", "local": f"{x}.p", "heap": f"{x}->p", "deep": f"{x}.in->p"}[where]
    given = {"static": f"&{x}", "local": f"&{x}", "heap": x, "deep": f"{x}.in"}[where]
    place = f"{access}[{{d}}]" if many else access
    target = "{p}->p[{p}d]" if many else "{p}->p"
    if void:
        place, target = f"(({e} *){place})", f"(({e} *){target})"
    number_ = ", int {p}d" if many else ""
    struct = View(f"struct {tag} *{{p}}{number_}", given + (", {d}" if many else ""), target)
    made = access if void else place
    fill, end = _lanes(want, f"{made} = {_memory(s, want, many)};"), _lanes(want, _free(s, made))
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    if where == "static":
        s.head.line(f"static struct {tag} {x};")
    elif where == "local":
        first = (f"struct {tag} {x};",)
    elif where == "heap":
        first, last = (f"struct {tag} *{x} = malloc(sizeof *{x});",), (f"free({x});",)
    else:
        s.head.line(f"static struct {{ int k; struct {tag} *in; }} {x};")
        first, last = (f"{x}.in = malloc(sizeof(struct {tag}));",), (f"free({x}.in);",)
    if s.rng.random() < 0.3 and not void:
        f = s.fresh("make")
        inner = _lanes(want, f"b->p{'[{d}]' if many else ''} = {_memory(s, want, True)};")
        s.head.line(f"static void {f}(struct {tag} *b)")
        s.head.block("", list(inner))
        fill = (f"{f}({given});",)
    return Home(place, _views(want, place, struct), (*first, *fill), (*end, *last))


def struct_array(s: Scene, want: Want) -> Home:
    """An array of structs, each with a pointer; static, local or on the heap."""
    tag, x, e = s.fresh("t"), s.fresh("v"), want.element
    s.head.line(f"struct {tag} {{ int peer; {e} *p; {s.rng.choice(('', 'int n; '))}}};")
    lanes = max(want.lanes, 2)
    place = f"{x}[{{d}}].p"
    where = s.rng.choice(("static", "local", "heap"))
    fill = _lanes(want, f"{place} = {_memory(s, want, True)};")
    end = _lanes(want, _free(s, place))
    views = [
        View(f"struct {tag} *{{p}}", f"&{x}[{{d}}]", "{p}->p"),
        View(f"struct {tag} *{{p}}, int {{p}}d", f"{x}, {{d}}", "{p}[{p}d].p"),
    ]
    if where == "static":
        s.head.line(f"static struct {tag} {x}[{lanes}];")
        views.append(View("int {p}d", "{d}", f"{x}[{{p}}d].p"))
        return Home(place, _views(want, place, *views), fill, end)
    if where == "local":
        return Home(place, _views(want, place, *views), (f"struct {tag} {x}[{lanes}];", *fill), end)
    make = s.rng.choice((f"calloc({lanes}, sizeof *{x})", f"malloc({lanes} * sizeof(struct {tag}))"))
    return Home(place, _views(want, place, *views), (f"struct {tag} *{x} = {make};", *fill), (*end, f"free({x});"))


def halves(s: Scene, want: Want) -> Home:
    """Parts of one object."""
    x, e = s.fresh("w"), want.element
    place = s.rng.choice((f"({x} + ({{d}}) * {want.size})", f"(&{x}[({{d}}) * {want.size}])"))
    views = (View(f"{e} *{{p}}, int {{p}}d", f"{x}, {{d}}", f"({{p}} + {{p}}d * {want.size})"),)
    if s.rng.random() < 0.4:
        s.head.line(f"static {e} {x}[{want.lanes * want.size}];")
        return Home(place, _views(want, place, *views))
    call = (
        f"calloc({want.lanes * want.size}, sizeof({e}))"
        if want.defined
        else f"malloc({want.lanes * want.size} * sizeof({e}))"
    )
    return Home(place, _views(want, place, *views), (f"{e} *{x} = {call};",), (f"free({x});",))


def named(s: Scene, want: Want) -> Home:
    """Parts of one allocation, with a pointer for each; a scenario's second buffer may be a part of the first one's."""
    rng, e, unit = s.rng, want.element, f"sizeof({want.element})"
    key = f"{want.element} {want.size} {want.lanes} {want.defined}"
    if s.parts.get("key") == key and want.lanes == 1:
        del s.parts["key"]
        x, offset = s.fresh("y"), f"{s.parts['room']} * {s.parts['size']}"
        place = rng.choice((f"{s.parts['base']} + {offset}", f"&{s.parts['base']}[{offset}]"))
        if rng.random() < 0.4:
            s.head.line(f"static {e} *{x};")
            return Home(x, _views(want, x), (f"{x} = {place};",))
        return Home(x, _views(want, x), (f"{e} *{x} = {place};",))
    names = [s.fresh("y") for _ in range(want.lanes + rng.choice((0, 1, 1)))]
    size, count = str(want.size), len(names) + 1
    first: list[str] = []
    if rng.random() < 0.6:
        size = s.fresh("n")
        first = [f"int {size} = {want.size} + zero;"]
    if want.lanes == 1:
        s.parts.update(key=key, base=names[0], room=str(count - 1), size=size)
    if rng.random() < 0.4:
        s.head.line(f"static {e} {', '.join('*' + x for x in names)};")
    else:
        first.append(f"{e} {', '.join('*' + x for x in names)};")
    asked = (
        f"{count} * {size}, {unit}"
        if want.defined
        else rng.choice((f"{count} * {unit} * {size}", f"{count} * {size} * {unit}"))
    )
    first.append(f"{names[0]} = {'calloc' if want.defined else 'malloc'}({asked});")
    if rng.random() < 0.3:
        first.append(f'if (!{names[0]}) {{ printf("no memory\\n"); exit(3); }}')
    for i, x in enumerate(names[1:], 1):
        first.append(
            rng.choice(
                (
                    f"{x} = {names[i - 1]} + {size};",
                    f"{x} = {names[0]} + {i} * {size};",
                    f"{x} = &{names[0]}[{i} * {size}];",
                )
            )
        )
    rng.shuffle(names)
    lanes = names[: want.lanes]
    place = lanes[-1]
    for i, x in reversed(list(enumerate(lanes[:-1]))):
        place = f"({{d}} == {i} ? {x} : {place})"
    for x in names[want.lanes :]:
        first.append(f"memset({x}, 3, {want.size} * {unit}); total += *(unsigned char *){x};")
    base = s.parts.get("base", names[0]) if want.lanes == 1 else min(names, key=lambda x: int(x.rpartition("y")[2]))
    end = () if rng.random() < 0.2 else (f"free({base});",)
    return Home(place, _views(want, place), tuple(first), end)


def trailing(s: Scene, want: Want) -> Home:
    """A header and an array after it in one piece of memory, asked for with the room that it needs."""
    tag, x, e = s.fresh("t"), s.fresh("m"), want.element
    bound = s.rng.choice(("", "1"))
    s.head.line(f"struct {tag} {{ long n; {e} data[{bound}]; }};")
    room = f"sizeof(struct {tag}) + {want.size} * sizeof({e})"
    make = f"calloc(1, {room})" if want.defined else f"malloc({room})"
    clear = () if want.defined else (f"{x}->n = {want.size};",)
    view = View(f"struct {tag} *{{p}}", x, "{p}->data")
    return Home(
        f"{x}->data", _views(want, f"{x}->data", view), (f"struct {tag} *{x} = {make};", *clear), (f"free({x});",)
    )


def united(s: Scene, want: Want) -> Home:
    """An array in a union or directly in a struct."""
    x, e = s.fresh("u"), want.element
    kind = s.rng.choice(
        (
            f"union {{ {e} d[{want.size}]; unsigned char raw[{want.size}]; }}",
            f"struct {{ int n; {e} d[{want.size}]; int last; }}",
        )
    )
    place = f"{x}.d"
    if s.rng.random() < 0.5:
        s.head.line(f"static {kind} {x};")
        return Home(place, _views(want, place))
    clear = (f"memset(&{x}, 0, sizeof {x});",) if want.defined else ()
    return Home(place, _views(want, place), (f"{kind} {x};", *clear))


def vla(s: Scene, want: Want) -> Home:
    x, e = s.fresh("y"), want.element
    clear = (f"memset({x}, 0, {want.size} * sizeof({e}));",) if want.defined else ()
    return Home(x, _views(want, x), (f"{e} {x}[{want.size} + zero];", *clear))


def aliased(s: Scene, want: Want) -> Home:
    """A pointer that was taken from another pointer, or that may stand for one of two."""
    x, e = s.fresh("q"), want.element
    call = f"calloc({want.size}, sizeof({e}))" if want.defined else f"malloc({want.size} * sizeof({e}))"
    if s.rng.random() < 0.5:
        return Home(x, _views(want, x), (f"{e} *{x}_o = {call};", f"{e} *{x} = {x}_o;"), (f"free({x}_o);",))
    make = (f"{e} *{x}_1 = {call}, *{x}_2 = {call};", f"{e} *{x} = {s.rng.choice(('zero', 'seven'))} ? {x}_1 : {x}_2;")
    return Home(x, _views(want, x), make, (f"free({x}_1);", f"free({x}_2);"))


HomeMaker = Callable[[Scene, Want], Home]
SINGLE: tuple[HomeMaker, ...] = (
    array, array, heap, heap, heap, struct_member, struct_member, struct_array, trailing, united, vla, aliased,
    named, named, named,
)  # fmt: skip
SEVERAL: tuple[HomeMaker, ...] = (
    array,
    heap,
    heap,
    heap,
    struct_member,
    struct_member,
    struct_array,
    struct_array,
    halves,
    named,
)


def home(s: Scene, want: Want) -> Home:
    return s.rng.choice(SINGLE if want.lanes == 1 else SEVERAL)(s, want)
