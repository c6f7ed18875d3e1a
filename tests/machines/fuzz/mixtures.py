"""Scenarios about one theme each, over any home: counters that outlive calls, turns by index, MPI_PROC_NULL, first
contents, addresses that are kept, calls through tables, datatypes.
"""

from __future__ import annotations

import random

from tests.machines.fuzz.forms import BAD, exchange
from tests.machines.fuzz.homes import Want, home
from tests.machines.fuzz.packing import Element, beyond, element, reading, whole
from tests.machines.fuzz.quantities import Scene, number

TAIL = "MPI_COMM_WORLD, MPI_STATUS_IGNORE"


def counted(rng: random.Random, name: str) -> str:
    """Elements appended by a function, its counter in memory; what has been appended is sent, the count first."""
    s = Scene(rng, name)
    fault = rng.choice(("preset", "wide", "more", "kept", "header")) if rng.random() < BAD else ""
    e, size = element(s), 30
    want = Want(e.type, size, 1, bool(fault))
    send, recv = home(s, want), home(s, want)
    view = rng.choice(send.views)
    counter, given, declared = s.fresh("c"), "", ""
    kind = rng.choice(("static", "struct", "pointer", "array"))
    first = "1" if fault == "preset" else "0"
    if kind == "static":
        s.head.line(f"static int {counter};")
        inside = outside = counter
    elif kind == "struct":
        s.head.line(f"static struct {{ double w; int n, full; }} {counter};")
        inside = outside = f"{counter}.n"
    elif kind == "pointer":
        declared, given, inside, outside = "int *n", f"&{counter}", "*n", counter
        s.body.line(f"int {counter};")
    else:
        s.head.line(f"static int {counter}[4];")
        inside = outside = f"{counter}[2]"
    put, place = s.fresh("put"), view.inside("s")
    step = f"({inside}) += i == 1 ? 2 : 1;" if fault == "wide" else f"({inside})++;"
    extra = rng.choice(("", f"if ({inside} >= {size - 2}) return;"))
    parameters = ", ".join(x for x in (view.declaration("s"), declared, "int i", "int t") if x)
    s.head.line(f"static void {put}({parameters})")
    s.head.block("", [x for x in (extra, e.store(f"{place}[{inside}]", "i"), step) if x])
    arguments = ", ".join(x for x in (view.given.replace("{d}", "0") if view.declared else "", given) if x)
    inner = rng.random() < 0.2
    body = s.body
    if not inner:
        body.lines += ["    " + text for text in (*send.make, *recv.make)]
    body.open(f"for (int t = 0; t < {rng.choice((2, 3))} + zero; t++)")
    if inner:
        for text in (*send.make, *recv.make):
            body.line(text)
    got, sent = s.fresh("m"), s.fresh("l")
    body.line(f"int {got} = 0, {sent};")
    reset = f"{outside} = {first};"
    body.line(f"if (t == 0) {reset}" if fault == "kept" else reset)
    limit = number(s, rng.choice((8, 10)))
    keep = rng.choice(("", "", f"if ((i + rank) % {rng.choice((2, 3))}) "))
    body.line(f"for (int i = 0; i < {limit}; i++) {keep}{put}({', '.join(x for x in (arguments, 'i', 't') if x)});")
    body.line(f"{sent} = {outside}{' + 1' if fault == 'more' else ''};")
    if fault == "kept":
        body.line(f"if ({sent} > 20) {sent} = 20;")
    body.line(f"MPI_Sendrecv(&{sent}, 1, MPI_INT, peer, 1, &{got}, 1, MPI_INT, peer, 1, {TAIL});")
    direct = outside if not fault and rng.random() < 0.6 else sent
    for text in exchange(rng, send.at("0"), recv.at("0"), e.messages(direct), e.kind, e.messages(got)):
        body.line(text)
    there = recv.at("0")
    body.line(f"for (int i = 0; i < {got}; i++) {{ {e.read(f'{there}[i]', '(i + 1)')} }}")
    if fault == "header":
        body.line(e.read(f"{send.at('0')}[0]", "2"))
    if inner:
        for text in (*send.end, *recv.end):
            body.line(text)
    body.close()
    if not inner:
        body.lines += ["    " + text for text in (*send.end, *recv.end)]
    return s.done()


def turning(rng: random.Random, name: str) -> str:
    """Two lanes that take turns by an index; what a turn starts is completed by the next one that has its lane."""
    s = Scene(rng, name)
    fault = rng.choice(("old", "short", "after", "other", "early")) if rng.random() < BAD else ""
    e, size = element(s), rng.choice((9, 14))
    want = Want(e.type, size, 2, bool(fault))
    send, recv = home(s, want), home(s, want)
    n, both = number(s, size), rng.random() < 0.5
    body = s.body
    for text in (*send.make, *recv.make):
        body.line(text)
    q, cur = s.fresh("q"), s.fresh("cur")
    body.line(f"MPI_Request {q}[2] = {{MPI_REQUEST_NULL, MPI_REQUEST_NULL}};")
    way = rng.choice(("t & 1", "t % 2", "xor", "minus", "member", "call"))
    at, last = cur, ""
    if way == "xor":
        body.line(f"int {cur} = 0;")
        last = f"{cur} ^= 1;"
    elif way == "minus":
        body.line(f"int {cur} = 1;")
        last = f"{cur} = 1 - {cur};"
    elif way == "member":
        s.head.line(f"static struct {{ int k; int now; }} {cur};")
        body.line(f"{cur}.now = 0;")
        at, last = f"{cur}.now", f"{cur}.now = ({cur}.now + 1) % 2;"
    elif way == "call":
        s.head.line(f"static int {cur}(int t) {{ return t % 2; }}")
        at = f"{cur}(t)"
    else:
        at = way
    body.open(f"for (int t = 0; t < {rng.choice((2, 3, 5))} + zero; t++)")
    if rng.random() < 0.5:
        d = s.fresh("d")
        body.line(f"int {d} = {at};")
        at = d
    body.line(f"MPI_Wait(&{q}[{at}], MPI_STATUS_IGNORE);")
    here, there = send.at(at), recv.at(at if both else "0")
    if fault == "old":
        body.line(e.read(f"{here}[0]", "2"))
    body.line(f"for (int i = {1 if fault == 'short' else 0}; i < {n}; i++) {{ {e.store(f'{here}[i]', 'i')} }}")
    m = e.messages(n)
    body.line(f"MPI_Isend({here}, {m}, {e.kind}, peer, 5, MPI_COMM_WORLD, &{q}[{at}]);")
    if fault == "early":
        body.line(beyond(s, e, there, n, size))
    body.line(f"MPI_Recv({there}, {m}, {e.kind}, peer, 5, {TAIL});")
    body.line(reading(s, e, there, n))
    if fault == "other":
        body.line(e.read(f"{send.at(f'1 - ({at})')}[1]", "2"))
    if last:
        body.line(last)
    body.close()
    body.line(f"MPI_Waitall(2, {q}, MPI_STATUSES_IGNORE);")
    if fault == "after":
        body.line("int t = 1;")
        body.line(e.read(f"{send.at(rng.choice(('0', '1')))}[1]", "1"))
    for text in (*send.end, *recv.end):
        body.line(text)
    return s.done()


def nobody(rng: random.Random, name: str) -> str:
    """A neighbour that may be MPI_PROC_NULL, by way of tables, members, calls or a topology."""
    s = Scene(rng, name)
    guarded = rng.random() < 0.55
    e, size = element(s), rng.choice((9, 14))
    want = Want(e.type, size, 1, not guarded)
    send, recv, body = home(s, want), home(s, want), s.body
    x = s.fresh("who")
    way = rng.choice(("table", "filled", "member", "call", "out", "cart", "ternary", "copied", "loop"))
    who = x
    if way == "table":
        s.head.line(f"static int {x}[2] = {{MPI_PROC_NULL, 0}};")
        who = f"{x}[rank]"
    elif way == "filled":
        body.line(f"int {x}[2];")
        body.line(f"{x}[0] = MPI_PROC_NULL;")
        body.line(f"{x}[1] = 0;")
        who = f"{x}[rank]"
    elif way == "member":
        s.head.line(f"static struct {{ int n, left, right; }} {x} = {{1, MPI_PROC_NULL, 0}};")
        who = f"(rank ? {x}.right : {x}.left)"
    elif way == "call":
        s.head.line(f"static int {x}_of(int r) {{ if (r == 0) return MPI_PROC_NULL; return r - 1; }}")
        body.line(f"int {x} = {x}_of(rank);")
    elif way == "out":
        s.head.line(f"static void {x}_to(int *p, int r) {{ *p = r - 1; if (*p < 0) *p = MPI_PROC_NULL; }}")
        body.line(f"int {x};")
        body.line(f"{x}_to(&{x}, rank);")
    elif way == "cart":
        body.line(f"int {x}, {x}_up, {x}_d[1] = {{2}}, {x}_p[1] = {{0}};")
        body.line(f"MPI_Comm {x}_c;")
        body.line(f"MPI_Cart_create(MPI_COMM_WORLD, 1, {x}_d, {x}_p, 0, &{x}_c);")
        body.line(f"MPI_Cart_shift({x}_c, 0, 1, &{x}, &{x}_up);")
        body.line(f"MPI_Comm_free(&{x}_c);")
    elif way == "ternary":
        body.line(f"int {x} = rank > 0 ? rank - 1 : MPI_PROC_NULL;")
    elif way == "copied":
        body.line(f"int {x}_a[2] = {{MPI_PROC_NULL, 0}}, {x}_b[2];")
        body.line(f"memcpy({x}_b, {x}_a, sizeof {x}_b);")
        who = f"{x}_b[rank]"
    else:
        body.line(f"int {x} = rank - 1;")
        body.line(f"for (int k = 0; k < 2; k++) if ({x} < 0) {x} = MPI_PROC_NULL;")
    for text in (*send.make, *recv.make):
        body.line(text)
    if not guarded:
        at = recv.at("0")
        body.line(f"for (int i = 0, t = 7; i < {size}; i++) {{ {e.store(f'{at}[i]', 'i')} }}")
    body.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    n = number(s, size)
    body.line(whole(s, e, send.at("0"), n))
    m, there = e.messages(n), recv.at("0")
    receive = f"MPI_Recv({there}, {m}, {e.kind}, {who}, 6, {TAIL});"
    if rng.random() < 0.5:
        body.line(f"if (rank == 0) MPI_Send({send.at('0')}, {m}, {e.kind}, 1, 6, MPI_COMM_WORLD);")
        body.line(receive)
    else:
        body.line("MPI_Request q;")
        body.line(f"MPI_Irecv({there}, {m}, {e.kind}, {who}, 6, MPI_COMM_WORLD, &q);")
        body.line(f"if (rank == 0) MPI_Send({send.at('0')}, {m}, {e.kind}, 1, 6, MPI_COMM_WORLD);")
        body.line("MPI_Wait(&q, MPI_STATUS_IGNORE);")
    guard = rng.choice((f"if ({who} != MPI_PROC_NULL) ", "if (rank > 0) ")) if guarded else ""
    body.line(f"{guard}{{ {reading(s, e, there, n)} }}")
    body.close()
    for text in (*send.end, *recv.end):
        body.line(text)
    return s.done()


def initial(rng: random.Random, name: str) -> str:
    """Arrays whose first contents count: initialisers, whole structs, bytes of strings; packed wholly or in part."""
    s = Scene(rng, name)
    size, body = rng.choice((8, 12)), s.body
    a, r = s.fresh("a"), s.fresh("r")
    static = "static " if rng.random() < 0.3 else ""
    values = ", ".join(str(k + 1) for k in range(rng.choice((1, 3, size))))
    inner = rng.random() < 0.5
    kind = rng.choice(("double", "double", "struct", "char"))
    count, datatype, unit = str(size), "MPI_DOUBLE", "double"
    if kind == "struct":
        s.head.line(f"struct {a}_t {{ double x[{size}]; int id, on; }};")
        declared, place = f"{static}struct {a}_t {a} = {{{{{values}}}, 4, 5}};", f"{a}.x"
        r_declared = f"struct {a}_t {r};"
        count, datatype, unit = f"(int)sizeof(struct {a}_t)", "MPI_BYTE", f"struct {a}_t"
    elif kind == "char":
        size *= 8
        declared, r_declared, place = f'{static}char {a}[{size}] = "some text of a message";', f"char {r}[{size}];", a
        count, datatype, unit = str(size), "MPI_CHAR", "char"
    else:
        declared, r_declared, place = f"{static}double {a}[{size}] = {{{values}}};", f"double {r}[{size}];", a
    rest = rng.choice(("none", "all", "some", "copy", "all", "added"))
    if not inner:
        body.line(declared)
        body.line(r_declared)
    body.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    if inner:
        body.line(declared)
        body.line(r_declared)
    if rest in ("all", "some"):
        first = 0 if rest == "all" else rng.choice((1, 2))
        body.line(f"for (int i = {first}; i < {size}; i++) {place}[i] = i + t;")
        if kind == "struct" and rest == "all" and rng.random() < 0.7:
            body.line(f"{a}.id = t; {a}.on = 2;")
    elif rest == "added":
        body.line(f"for (int i = 0; i < {size}; i++) {place}[i] += i % 3 + t;")
    elif rest == "copy":
        body.line(f"{unit} {a}_c{'' if kind == 'struct' else f'[{size}]'};")
        amp = "&" if kind == "struct" else ""
        body.line(f"memset({amp}{a}_c, 1, sizeof {a}_c);")
        if kind == "struct" and rng.random() < 0.5:
            body.line(f"{a} = {a}_c;")
        else:
            body.line(f"memcpy({amp}{a}, {amp}{a}_c, sizeof {a}{rng.choice(('', '', ' - 1'))});")
    amp = "&" if kind == "struct" else ""
    for text in exchange(rng, amp + a, amp + r, count, datatype):
        body.line(text)
    if kind == "struct":
        copied = f"struct {a}_t {a}_d = {r}; total += {a}_d.x[1] + {a}_d.id;"
        body.line(rng.choice((copied, f"total += {r}.x[{size - 1}] + {r}.on;")))
        if rng.random() < 0.3:
            body.line(f"struct {a}_t {a}_f = {a}; total += {a}_f.id;")
    else:
        body.line(f"for (int i = 0; i < {size}; i++) total += {r}[i] * (i + 1);")
        if rng.random() < 0.3:
            body.line(f"total += {a}[{rng.randrange(size)}];")
    body.close()
    return s.done()


def remembered(rng: random.Random, name: str) -> str:
    """An address that is put away and used again: later, in another function, through structs, tables or callbacks."""
    s = Scene(rng, name)
    e, size = element(s), rng.choice((9, 14))
    want = Want(e.type, size, 1, True)
    send, recv, body = home(s, want), home(s, want), s.body
    x, f = s.fresh("old"), s.fresh("look")
    used = rng.random() < 0.6
    what = rng.choice((send, recv)).at("0")
    way = rng.choice(("static", "struct", "table", "integer", "byte", "callback", "double"))
    read = e.read("p[1]", "2")
    if way == "static":
        s.head.line(f"static {e.type} *{x};")
        put, look = f"{x} = {what};", f"{e.type} *p = {x};"
    elif way == "struct":
        s.head.line(f"static struct {{ int k; void *at; }} {x};")
        put, look = f"{x}.at = {what} + 1;", f"{e.type} *p = ({e.type} *){x}.at - 1;"
    elif way == "table":
        s.head.line(f"static void *{x}[3];")
        put, look = f"{x}[1 + zero] = {what};", f"{e.type} *p = {x}[1];"
    elif way == "integer":
        s.head.line(f"static size_t {x};")
        put, look = f"{x} = (size_t){what};", f"{e.type} *p = ({e.type} *){x};"
    elif way == "byte":
        s.head.line(f"static {e.type} *{x};")
        put, look = f"{{ {e.type} *p = {what}; memcpy(&{x}, &p, sizeof p); }}", f"{e.type} *p = {x};"
    elif way == "double":
        s.head.line(f"static {e.type} **{x}, *{x}_in;")
        put, look = f"{x} = &{x}_in; *{x} = {what};", f"{e.type} *p = {x}_in;"
    else:
        s.head.line(f"static {e.type} *{x};")
        s.head.line(f"static double {f}_seen;")
        s.head.line(f"static int {f}_cmp(const void *a, const void *b)")
        seen = f"double kept = total; total = 0; {e.read(f'{x}[1]', '1')} {f}_seen = total; total = kept;"
        s.head.block("", [seen, "return (a > b) - (a < b);"])
        put, look = f"{x} = {what};", f"{e.type} *p = {x}; int k[2] = {{2, 1}}; qsort(k, 2, sizeof k[0], {f}_cmp);"
        read = f"total += {f}_seen; (void)p;"
    s.head.line(f"static void {f}(int t)")
    s.head.block("", [look, "(void)t;", read if used else f"if (p == NULL) {{ {read} }}"])
    early = rng.random() < 0.5
    for text in (*send.make, *recv.make, *([put] if early else [])):
        body.line(text)
    body.open(f"for (int t = 0; t < {rng.choice((1, 2))} + zero; t++)")
    n = number(s, size)
    body.line(whole(s, e, send.at("0"), n))
    if not early:
        body.line(put)
    before = rng.random() < 0.3
    if before:
        body.line(f"{f}(t);")
    for text in exchange(rng, send.at("0"), recv.at("0"), e.messages(n), e.kind):
        body.line(text)
    body.line(reading(s, e, recv.at("0"), n))
    if not before:
        body.line(rng.choice((f"{f}(t);", f"void (*{f}_p)(int) = {f}; {f}_p(t);")))
    body.close()
    for text in (*send.end, *recv.end):
        body.line(text)
    return s.done()


def dispatched(rng: random.Random, name: str) -> str:
    """Functions in tables and structs that pack, chosen by the turn; one of them may do less than the others."""
    s = Scene(rng, name)
    fault = rng.random() < BAD
    e, size, body = element(s), rng.choice((9, 14)), s.body
    want = Want(e.type, size, 1, fault)
    send, recv = home(s, want), home(s, want)
    view, n = rng.choice(send.views), number(s, size)
    table = s.fresh("ops")
    names = []
    for k in range(2):
        f = s.fresh("pack")
        text = whole(s, e, view.inside("s"), "n")
        if fault and k:
            at = view.inside("s")
            text = f"for (int i = 2; i < n; i++) {{ {e.store(f'{at}[i]', 'i')} }}"
        s.head.line(f"static void {f}({', '.join(x for x in (view.declaration('s'), 'int n', 'int t') if x)})")
        s.head.block("", [text])
        names.append(f)
    types = f"({', '.join(x for x in (view.declaration('s'), 'int n', 'int t') if x)})"
    if rng.random() < 0.5:
        s.head.line(f"static void (*{table}[2]){types} = {{{names[0]}, {names[1]}}};")
        chosen = rng.choice((f"{table}[t % 2]", f"{table}[0]", f"{table}[t > 0]", f"{table}[1]"))
    else:
        s.head.line(f"static struct {{ int k; void (*pack){types}; }} {table} = {{1, {names[0]}}};")
        body.line(rng.choice((f"if (seven == 7) {table}.pack = {names[1]};", f"{table}.pack = {names[1]};", "")) or ";")
        chosen = f"{table}.pack"
    for text in (*send.make, *recv.make):
        body.line(text)
    body.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    given = ", ".join(x for x in (view.given.replace("{d}", "0") if view.declared else "", n, "t") if x)
    body.line(f"{chosen}({given});")
    for text in exchange(rng, send.at("0"), recv.at("0"), e.messages(n), e.kind):
        body.line(text)
    body.line(reading(s, e, recv.at("0"), n))
    body.close()
    for text in (*send.end, *recv.end):
        body.line(text)
    return s.done()


def typed(rng: random.Random, name: str) -> str:
    """Messages of derived datatypes, alone or beside others of the same buffers."""
    s = Scene(rng, name)
    fault = rng.random() < BAD
    size, body = 12, s.body
    want = Want("double", size, 1, True)
    e = Element("double", "{n}", "MPI_DOUBLE")
    send, recv = home(s, want), home(s, want)
    for text in (*send.make, *recv.make):
        body.line(text)
    ty = s.fresh("ty")
    body.line(f"MPI_Datatype {ty};")
    kind = rng.choice(("contiguous", "vector", "tight", "struct"))
    if kind == "contiguous":
        body.line(f"MPI_Type_contiguous({size}, MPI_DOUBLE, &{ty});")
    elif kind == "vector":
        body.line(f"MPI_Type_vector({size // 2}, 1, 2, MPI_DOUBLE, &{ty});")
    elif kind == "tight":
        body.line(f"MPI_Type_vector({size // 2}, 2, 2, MPI_DOUBLE, &{ty});")
    else:
        body.line(f"int {ty}_l[2] = {{4, {size - 4}}};")
        body.line(f"MPI_Aint {ty}_d[2] = {{0, 32}};")
        body.line(f"MPI_Datatype {ty}_t[2] = {{MPI_DOUBLE, MPI_DOUBLE}};")
        body.line(f"MPI_Type_create_struct(2, {ty}_l, {ty}_d, {ty}_t, &{ty});")
    body.line(f"MPI_Type_commit(&{ty});")
    body.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    step = 2 if kind == "vector" else 1
    a, b = send.at("0"), recv.at("0")
    body.line(f"for (int i = {1 if fault else 0}; i < {size}; i += {step}) {a}[i] = field[i] + t;")
    both = rng.choice((True, True, False))
    for text in exchange(rng, a, b, "1" if both else str(size), ty if both else "MPI_DOUBLE"):
        body.line(text)
    if rng.random() < 0.4:
        body.line(f"for (int i = 0; i < {size}; i++) {{ {e.store(f'{a}[i]', 'i')} }}")
        for text in exchange(rng, a, b, str(size)):
            body.line(text)
    body.line(f"total += sum({b}, {size});" if rng.random() < 0.5 else f"total += {b}[{rng.choice((0, 1, 3))}];")
    if fault and rng.random() < 0.4:
        body.line(f"total += {a}[3];")
    body.close()
    body.line(f"MPI_Type_free(&{ty});")
    for text in (*send.end, *recv.end):
        body.line(text)
    return s.done()
