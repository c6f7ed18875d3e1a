"""Scenarios in which features meet: any home, any way of packing, any number, any helper, any completion.

A scenario has one to three lanes.  In each turn every lane is packed, exchanged with the peer and read, inline or in
functions that get the buffers in one of the ways that their homes offer; the lanes follow one another, go phase by
phase, or all have their requests pending at once.  With a fault, memory is defined from the beginning and one condition
is violated; without one, only what messages bring is read.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.machines.fuzz.forms import exchange
from tests.machines.fuzz.homes import Home, View, Want, home
from tests.machines.fuzz.packing import Element, beyond, element, partial, reading, whole
from tests.machines.fuzz.quantities import Scene, number

FAULTS = ("short", "short", "after", "tail", "lane", "number", "early", "alias", "once", "twice", "swapped")
FAULTY = 0.45


@dataclass(frozen=True, slots=True)
class Plan:
    """What was drawn for one scenario."""

    lanes: int
    size: int
    element: Element
    send: Home
    recv: Home
    packed: str  # how many elements are packed,
    sent: str  # and sent; received: the same
    fault: str


def meeting(rng: random.Random, name: str) -> str:
    """A scenario of one to three lanes."""
    s = Scene(rng, name)
    fault = rng.choice(FAULTS) if rng.random() < FAULTY else ""
    lanes, size = rng.choice((1, 1, 1, 2, 2, 3)), rng.choice((10, 16, 24))
    e = element(s)
    v = rng.randrange(8, size + 1)
    packed = number(s, v - (fault == "number"))
    sent = packed if fault != "number" and rng.random() < 0.7 else number(s, v)
    want = Want(e.type, size, lanes, bool(fault))
    plan = Plan(lanes, size, e, home(s, want), home(s, want), packed, sent, fault)
    inner = rng.random() < 0.25
    if not inner:
        _begin(s, plan)
    s.body.open(f"for (int t = 0; t < {rng.choice((1, 2, 3))} + zero; t++)")
    if inner:
        _begin(s, plan)
    if fault == "early":
        _each(s, plan, lambda d: [beyond(s, e, plan.recv.at(d), sent, size)])
    if lanes > 1 and rng.random() < 0.5:
        _pending(s, plan)
    elif rng.random() < 0.3:
        _whole_turn(s, plan)
    else:
        _phases(s, plan)
    _later(s, plan)
    if inner:
        _finish(s, plan)
    s.body.close()
    if not inner:
        _finish(s, plan)
    return s.done()


def _begin(s: Scene, plan: Plan) -> None:
    for text in (*plan.send.make, *plan.recv.make):
        s.body.line(text)


def _finish(s: Scene, plan: Plan) -> None:
    for text in (*plan.send.end, *plan.recv.end):
        s.body.line(text)


def _each(s: Scene, plan: Plan, make: object, plainly: bool = False) -> None:
    """A statement list for each lane: in a loop, or one after the other with constants, in some order."""
    assert callable(make)
    rng = s.rng
    if plan.lanes == 1:
        for text in make("0"):
            s.body.line(text)
        return
    if plainly or rng.random() < 0.6:
        s.body.block(f"for (int d = 0; d < {plan.lanes}; d++)", make("d"))
        return
    texts = {d: make(str(d)) for d in range(plan.lanes)}
    order = list(texts)
    if rng.random() < 0.3:
        order.reverse()
    for d in order:
        s.body.block("", texts[d])


def _function(s: Scene, stem: str, views: list[tuple[str, View]], body: list[str]) -> tuple[str, str]:
    """A function of some buffers; its name and the arguments of a call, with ``{d}`` for the lane."""
    f = s.fresh(stem)
    declared = [view.declaration(prefix) for prefix, view in views if view.declared]
    given = [view.given for _, view in views if view.declared]
    const = s.rng.random() < 0.2
    n = "const int n" if const else "int n"
    s.head.line(f"static void {f}({', '.join([*declared, n, 'int t'])})")
    s.head.block("", body)
    return f, ", ".join([*given, "{n}", "t"])


def _call(s: Scene, made: tuple[str, str], lane: str, n: str) -> list[str]:
    f, given = made
    text = f"({given.replace('{d}', lane).replace('{n}', n)});"
    if s.rng.random() < 0.12:
        p = s.fresh("fp")
        return [f"void (*{p})() = {f};", f"{p}{text}"] if s.rng.random() < 0.3 else [f"(*(seven ? {f} : {f})){text}"]
    return [f + text]


def _maybe_helper(s: Scene, stem: str, chance: float, use: Home, prefix: str, make: object, n: str) -> object:
    """A maker of the lines for a lane: inline, or a call of a function that has them."""
    assert callable(make)
    if s.rng.random() >= chance:
        return lambda d: make(use.at(d), n)
    view = s.rng.choice(use.views)
    made = _function(s, stem, [(prefix, view)], make(view.inside(prefix), "n"))
    return lambda d: _call(s, made, d, n)


def _pack(s: Scene, plan: Plan, place: str, n: str) -> list[str]:
    if plan.fault == "short":
        return [partial(s, plan.element, place, n)]
    text = whole(s, plan.element, place, n)
    if plan.fault == "once":
        return ["if (t == 0) {", f"    {text}", "}"]
    if s.rng.random() < 0.15:
        return [f"if (rank + {n} > 0) {{", f"    {text}", "} else {", f"    {whole(s, plan.element, place, n)}", "}"]
    return [text]


def _unpack(s: Scene, plan: Plan, place: str, n: str) -> list[str]:
    if plan.fault == "tail":
        return [beyond(s, plan.element, place, n, plan.size)]
    return [reading(s, plan.element, place, n) for _ in range(s.rng.choice((1, 1, 2)))]


def _swap(s: Scene, plan: Plan, send: str, recv: str, n: str) -> list[str]:
    """The exchange of one lane and what a fault puts directly after it."""
    e, rng = plan.element, s.rng
    n = e.messages(n)
    if rng.random() < 0.06:
        counter = f"static int {s.name}_sent;"
        if counter not in s.head.lines:
            s.head.line(counter)
        n = f"({s.name}_sent++, {n})"
        lines = [*exchange(rng, send, recv, n, e.kind), f"total += {s.name}_sent;"]
    else:
        lines = exchange(rng, send, recv, n, e.kind)
    if plan.fault == "alias":
        q = s.fresh("q")
        lines = [f"{e.type} *{q} = {rng.choice((send, send, recv))};", *lines]
        lines += (
            [e.read(f"{q}[1]", "2")] if rng.random() < 0.6 else [e.store(f"{q}[0]", "1"), e.read(f"{send}[0]", "1")]
        )
    elif plan.fault == "after" and rng.random() < 0.6:
        lines += [e.read(f"{send}[{rng.choice((0, 2, 5))}]", "7")]
    elif plan.fault == "twice":
        lines += exchange(rng, send, recv, n, e.kind)
    return lines


def _phases(s: Scene, plan: Plan) -> None:
    """Pack, exchange, unpack: lane by lane, or each for all lanes."""
    rng = s.rng
    pack = _maybe_helper(s, "pack", 0.4, plan.send, "s", lambda place, n: _pack(s, plan, place, n), plan.packed)
    unpack = _maybe_helper(s, "unpack", 0.4, plan.recv, "r", lambda place, n: _unpack(s, plan, place, n), plan.sent)
    assert callable(pack)
    assert callable(unpack)
    if rng.random() < 0.35:
        views = [("s", rng.choice(plan.send.views)), ("r", rng.choice(plan.recv.views))]
        body = _swap(s, plan, views[0][1].inside("s"), views[1][1].inside("r"), "n")
        made = _function(s, "swap", views, body)

        def swap(d: str) -> list[str]:
            return _call(s, made, d, plan.sent)
    else:

        def swap(d: str) -> list[str]:
            return _swap(s, plan, plan.send.at(d), plan.recv.at(d), plan.sent)

    if plan.lanes == 1 or rng.random() < 0.5:
        _each(s, plan, lambda d: [*pack(d), *swap(d), *unpack(d)])
    else:
        _each(s, plan, pack)
        if plan.fault == "swapped":
            _each(s, plan, lambda d: [whole(s, plan.element, plan.send.at("0"), "2")], True)
        _each(s, plan, swap)
        _each(s, plan, unpack)


def _whole_turn(s: Scene, plan: Plan) -> None:
    """One function that packs, exchanges and unpacks, called with other constants or in a loop."""
    rng = s.rng
    send, recv = rng.choice(plan.send.views), rng.choice(plan.recv.views)
    sp, rp = send.inside("s"), recv.inside("r")
    count = "n" if plan.fault != "number" else "n + 1"
    body = [*_pack(s, plan, sp, "n"), *_swap(s, plan, sp, rp, count), *_unpack(s, plan, rp, "n")]
    made = _function(s, "turn", [("s", send), ("r", recv)], body)
    _each(s, plan, lambda d: _call(s, made, d, plan.packed))


def _pending(s: Scene, plan: Plan) -> None:
    """All receives posted first, all sends started, then completed together or as they come."""
    rng, e, lanes = s.rng, plan.element, plan.lanes
    n, tag = e.messages(plan.sent), rng.randrange(2, 6)
    q = s.fresh("rq")
    s.body.line(f"MPI_Request {q}[{2 * lanes}];")
    loop = f"for (int d = 0; d < {lanes}; d++)"

    def post(d: str) -> list[str]:
        return [f"MPI_Irecv({plan.recv.at(d)}, {n}, {e.kind}, peer, {tag} + {d}, MPI_COMM_WORLD, &{q}[{d}]);"]

    def start(d: str) -> list[str]:
        return [f"MPI_Isend({plan.send.at(d)}, {n}, {e.kind}, peer, {tag} + {d}, MPI_COMM_WORLD, &{q}[{lanes} + {d}]);"]

    pack = _maybe_helper(s, "pack", 0.4, plan.send, "s", lambda place, k: _pack(s, plan, place, k), plan.packed)
    assert callable(pack)
    _each(s, plan, post)
    if rng.random() < 0.5:
        _each(s, plan, lambda d: [*pack(d), *start(d)])
    else:
        _each(s, plan, pack)
        _each(s, plan, start)
    how = rng.choice(("all", "all", "any", "testall", "some", "one", "test"))
    sends = f"MPI_Waitall({lanes}, {q} + {lanes}, MPI_STATUSES_IGNORE);"
    got = s.fresh("got")
    if how == "any":
        s.body.line(f"double {got}[{lanes}], {got}_b = total;")
        s.body.open(loop)
        s.body.line("int at;")
        s.body.line(f"MPI_Waitany({lanes}, {q}, &at, MPI_STATUS_IGNORE);")
        s.body.line("total = 0;")
        there = plan.recv.at("at")
        s.body.line(f"for (int i = 0; i < {plan.sent}; i++) {{ {e.read(f'{there}[i]', '(i + 1)')} }}")
        s.body.line(f"{got}[at] = total;")
        s.body.close()
        s.body.line(f"total = {got}_b;")
        s.body.line(f"{loop} total += {got}[d];")
        s.body.line(sends)
        if plan.fault == "tail":
            _each(s, plan, lambda d: _unpack(s, plan, plan.recv.at(d), plan.sent))
        return
    if how == "one":
        if rng.random() < 0.5:
            _each(
                s,
                plan,
                lambda d: [f"MPI_Wait(&{q}[{d}], MPI_STATUS_IGNORE);", *_unpack(s, plan, plan.recv.at(d), plan.sent)],
            )
            s.body.line(sends)
            return
        s.body.line(f"{loop} MPI_Wait(&{q}[d], MPI_STATUS_IGNORE);")
        s.body.line(f"{loop} MPI_Wait(&{q}[{lanes} + d], MPI_STATUS_IGNORE);")
    elif how == "testall":
        s.body.line(f"int {got} = 0;")
        s.body.line(f"while (!{got}) MPI_Testall({2 * lanes}, {q}, &{got}, MPI_STATUSES_IGNORE);")
    elif how == "test":
        s.body.block(loop, ["int flag = 0;", f"while (!flag) MPI_Test(&{q}[d], &flag, MPI_STATUS_IGNORE);"])
        s.body.line(sends)
    elif how == "some":
        s.body.line(f"int {got} = {lanes}, {got}_n, {got}_at[{lanes}];")
        s.body.block(f"while ({got} > 0)", [
            f"MPI_Waitsome({lanes}, {q}, &{got}_n, {got}_at, MPI_STATUSES_IGNORE);", f"{got} -= {got}_n;",
        ])  # fmt: skip
        s.body.line(sends)
    else:
        s.body.line(f"MPI_Waitall({2 * lanes}, {q}, MPI_STATUSES_IGNORE);")
    unpack = _maybe_helper(s, "unpack", 0.4, plan.recv, "r", lambda place, k: _unpack(s, plan, place, k), plan.sent)
    _each(s, plan, unpack)


def _later(s: Scene, plan: Plan) -> None:
    """Reads that a fault puts at the end of a turn."""
    rng, e = s.rng, plan.element
    if plan.fault == "after":
        d = str(rng.randrange(plan.lanes))
        s.body.line(e.read(f"{plan.send.at(d)}[{rng.choice((0, 1, 4))}]", "3"))
    elif plan.fault == "lane":
        d = str(plan.lanes - 1)
        which = rng.choice((plan.send, plan.recv))
        s.body.line(f"if (t < seven) {{ {e.read(f'{which.at(d)}[{plan.size - 1}]', '2')} }}")
    elif plan.fault == "swapped" and plan.lanes > 1:
        d = s.fresh("d")
        s.body.line(f"int {d} = t % {plan.lanes};")
        s.body.line(e.read(f"{plan.send.at(d)}[1]", "2"))
