"""Live regions of small programs, judged against running them."""

from __future__ import annotations

import pytest
from core_support import judge, members, program
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from loop_programs import SIZE, Expr, Stmt, Undefined, live_after, program_text, run

from opi_xform.regions import bearing
from opi_xform.regions.sets import BudgetExceeded

PARAMETERS = (-2, 0, 1, 2, 3, 5, 8)


def compare(body: list[Stmt], seeds: int = 1) -> tuple[int, list[str], list[str]]:
    """(questions answered, bytes that are live but not found, bytes that are found but not live in that run)."""
    found = program(program_text(body))
    judged = judge(found, "b")
    assume(not judged.exceeded)
    answers, at_entry = judged.live(None)
    judged.regions.context.set_max_operations(0)  # the comparison itself may take as long as it needs
    n_symbol = found.marked()[0].single
    assert n_symbol is not None
    symbols, nest = found.program.values.symbols, found.program.nest
    asked, missed, invented = 0, [], []
    for n in PARAMETERS:
        for seed in range(seeds):
            try:
                trace = run(body, n, seed).trace
            except Undefined:
                continue
            for counts, live in live_after(trace):
                values = {n_symbol: n}
                region = at_entry
                if counts != (-1,):
                    (node,) = answers
                    loops = tuple(reversed(nest.chain(found.program.graph.nodes[node].block)))
                    if len(loops) != len(counts):
                        continue  # a loop that always breaks is none
                    values.update({symbols.count(loop): k for loop, k in zip(loops, counts, strict=True)})
                    region = answers[node]
                told = members(region, values, SIZE)
                asked += 1
                line = f"n={n} turn {counts}: live {sorted(live)}, found {sorted(told)}"
                if live - told:
                    missed.append(line)
                if told - live:
                    invented.append(line)
    return asked, missed, invented


# --- random loop nests ------------------------------------------------------------------------------------------------


@st.composite
def expressions(draw: st.DrawFn, names: tuple[str, ...], low: int = 0, high: int = 6) -> Expr:
    out: Expr = {"": draw(st.integers(low, high))}
    for name in names:
        if draw(st.booleans()):
            out[name] = draw(st.sampled_from([1, 1, 1, -1, 2]))
    return out


@st.composite
def bodies(draw: st.DrawFn, names: tuple[str, ...], depth: int, kinds: tuple[str, ...]) -> list[Stmt]:
    """Statements inside ``depth`` loops and ifs; ``kinds``: those beside accesses, loops and ifs."""
    out: list[Stmt] = []
    for _ in range(draw(st.integers(1, 3))):
        allowed = ["w", "r", *(k for k in kinds if k != "break" or depth)]
        if depth < 2:
            allowed += ["for", "for"]
        if depth < 3:
            allowed.append("if")
        kind = draw(st.sampled_from([k for k in allowed if depth < 3 or k not in ("do", "maybe")]))
        if kind in ("w", "r"):
            out.append((kind, draw(expressions(names))))
        elif kind in ("append", "reset"):
            out.append((kind,))
        elif kind in ("for", "do"):
            var = "ijkl"[depth]
            lo, hi = draw(expressions(names, 0, 2)), draw(expressions(names, 0, 4))
            inner = draw(bodies((*names, var), depth + 1, kinds))
            if draw(st.booleans()):
                out.append((kind, var, lo, "<", hi, draw(st.sampled_from([1, 1, 2])), inner))
            else:
                out.append((kind, var, hi, ">=", lo, -1, inner))
        else:
            left, right = draw(expressions(names, 0, 2)), draw(expressions(names, 0, 4))
            op = draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
            unbroken = tuple(k for k in kinds if k != "break")
            if kind == "break":
                out.append(("if", left, op, right, [("break",)], []))
                continue
            then = draw(bodies(names, depth + 1, unbroken))
            other = draw(bodies(names, depth + 1, unbroken)) if draw(st.booleans()) else []
            out.append(("maybe", then, other) if kind == "maybe" else ("if", left, op, right, then, other))
    return out


def insert_question(draw: st.DrawFn, body: list[Stmt]) -> list[Stmt]:
    """The question at one place of the program, in a loop or not."""
    at = draw(st.integers(0, len(body)))
    loops = [i for i, s in enumerate(body) if s[0] in ("for", "do")]
    if loops and draw(st.booleans()):
        i = draw(st.sampled_from(loops))
        loop = body[i]
        return [*body[:i], (*loop[:-1], insert_question(draw, loop[-1])), *body[i + 1 :]]
    return [*body[:at], ("ask",), *body[at:]]


@st.composite
def programs(draw: st.DrawFn, *kinds: str) -> list[Stmt]:
    return insert_question(draw, draw(bodies(("n",), 0, kinds)))


QUICK = settings(
    max_examples=25,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # a failing program is short enough; shrinking would take minutes
    suppress_health_check=list(HealthCheck),
)


@QUICK
@given(programs())
def test_affine_loop_nests_exactly(body: list[Stmt]) -> None:
    asked, missed, invented = compare(body)
    assume(asked)
    assert not missed, program_text(body)
    assert not invented, program_text(body)


@QUICK
@given(programs("break", "do"))
def test_breaks_and_do_while_exactly(body: list[Stmt]) -> None:
    asked, missed, invented = compare(body)
    assume(asked)
    assert not missed, program_text(body)
    assert not invented, program_text(body)


@QUICK
@given(programs("append", "append", "reset", "maybe", "break", "do"))
def test_nothing_live_is_missed(body: list[Stmt]) -> None:
    """Counters and unknown conditions: no byte that any run reads may be left out."""
    asked, missed, _ = compare(body, 4)
    assume(asked)
    assert not missed, program_text(body)


@QUICK
@given(programs("append", "reset", "maybe", "break", "do"))
def test_nothing_live_is_missed_where_regions_are_made_simpler(body: list[Stmt]) -> None:
    """As if each region had too many cases: what does not bear on the object is left out, then all but places."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bearing, "MOST_LEFT", 0)
        for most, too_many in ((0, 1000), (0, 0)):
            patch.setattr(bearing, "MANY", most)
            patch.setattr(bearing, "TOO_MANY", too_many)
            asked, missed, _ = compare(body, 2)
            assume(asked)
            assert not missed, program_text(body)


# --- one construct a test ---------------------------------------------------------------------------------------------


def live(text: str, n: int = 4) -> tuple[list[int], list[int]]:
    """Elements that are live at the question, and at the start, for a value of n; ``b`` has 20 elements of 8 bytes."""
    found = program(f"int rand(void);\nstatic double b[{SIZE}], v;\nstatic int mark, t[9];\n{text}")
    judged = judge(found, "b")
    answers, at_entry = judged.live(None)
    (region,) = answers.values()
    values = {s: n for p in found.marked() if (s := p.single) is not None}
    return sorted(members(region, values, SIZE)), sorted(members(at_entry, values, SIZE))


ASK = "MPI_Send(b, 0, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);"
MAIN = "int main(int argc, char **argv) {{ int n = argc, c = 0; mark = n; {} return 0; }}"
READ = f"{ASK} for (int i = 0; i < n; i++) v += b[i];"


def after(body: str, n: int = 4) -> list[int]:
    """What is live at the question when ``body`` stands between it and a loop that reads n elements."""
    return live(MAIN.format(f"{ASK} {body} for (int z = 0; z < n; z++) v += b[z];"), n)[0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", [0, 1, 2, 3]),
        ("for (int i = 0; i < n; i++) b[i] = 1;", []),
        ("for (int i = n - 1; i >= 0; i--) b[i] = 1;", []),
        ("for (int i = 0; i < n; i += 2) b[i] = 1;", [1, 3]),
        ("for (int i = 1; i < n; i++) b[i] = 1;", [0]),
        ("for (int i = 0; i < n; i++) { if (i == 2) continue; b[i] = 1; }", [2]),
        ("for (int i = 0; i < n; i++) { if (i == 2) break; b[i] = 1; }", [2, 3]),
        ("for (int i = 0; i < n; i++) { b[i] = 1; if (rand()) break; }", [1, 2, 3]),
        ("if (n > 3) for (int i = 0; i < n; i++) b[i] = 1;", []),
        ("if (n > 4) for (int i = 0; i < n; i++) b[i] = 1;", [0, 1, 2, 3]),
        ("if (rand()) for (int i = 0; i < n; i++) b[i] = 1;", [0, 1, 2, 3]),
        ("if (rand()) b[0] = 1; else b[0] = 2;", [1, 2, 3]),
        ("for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) b[2 * i + j] = 1;", []),
        ("for (int i = 0; i < 2; i++) for (int j = 0; j < i; j++) b[2 * i + j] = 1;", [0, 1, 3]),
        ("int i = 0; do b[i] = 1; while (++i < n);", []),
        ("double *p = b; while (p < b + n) *p++ = 1;", []),
        ("double *p = b; for (int i = 0; i < n; i++, p += 2) *p = 1;", [1, 3]),
        ("for (int i = 0; i < n; i++) { if (rand()) b[c++] = 1; else b[c++] = 2; }", []),
        ("for (int i = 0; i < n; i++) { if (rand()) { b[c] = 1; c++; } }", [0, 1, 2, 3]),
        ("b[t[0]] = 1;", [0, 1, 2, 3]),
        ("switch (n) { case 4: b[0] = 1; break; default: b[1] = 1; }", [1, 2, 3]),
        ("switch (n) { case 4: b[0] = 1; default: b[1] = 1; }", [2, 3]),
        ("goto out; b[0] = 1; out: b[1] = 1;", [0, 2, 3]),
    ],
)
def test_what_a_construct_is_sure_to_write(body: str, expected: list[int]) -> None:
    assert after(body) == expected


def test_appended_elements_are_written_up_to_the_counter() -> None:
    """``b[c++]`` under a condition: exactly c elements are written, whatever the conditions were."""
    append = "for (int i = 0; i < n; i++) if (rand()) b[c++] = 1;"
    exact = live(MAIN.format(f"{ASK} {append} for (int i = 0; i < c; i++) v += b[i];"))[0]
    assert exact == []
    beyond = live(MAIN.format(f"{ASK} {append} for (int i = 0; i <= c; i++) v += b[i];"))[0]
    assert beyond != []


def test_a_counter_that_moves_without_a_write_leaves_a_hole() -> None:
    hole = "for (int i = 0; i < n; i++) { b[c++] = 1; if (rand()) c++; }"
    assert live(MAIN.format(f"{ASK} {hole} for (int i = 0; i < c; i++) v += b[i];"))[0] != []


def test_symbolic_row_lengths() -> None:
    """``b[i * m + j]`` with unknown m: products are beyond integer sets, telescoping intervals are not."""
    body = "int m = t[1]; {} for (int i = 0; i < n * m; i++) v += b[i];"
    full = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[i * m + j] = 1;"
    assert live(MAIN.format(body.format(ASK + full)))[0] == []
    short = full.replace("j < m;", "j < m - 1;")
    assert live(MAIN.format(body.format(ASK + short)))[0] != []


def test_the_first_contents() -> None:
    assert live(MAIN.format(READ))[1] == [0, 1, 2, 3]
    assert live(MAIN.format("for (int i = 0; i < n; i++) b[i] = 0; " + READ))[1] == []


def test_the_next_turn_of_the_loop_around_the_question() -> None:
    turn = "for (int k = 0; k < 3; k++) {{ {} for (int i = 0; i < n; i++) {} {} }}"
    assert live(MAIN.format(turn.format("", "b[i] = 1;", ASK)))[0] == []
    assert live(MAIN.format(turn.format("v += b[1];", "b[i] = 1;", ASK)))[0] == [1]


def test_a_flag_first_looked_at_in_the_loop_that_changes_it() -> None:
    """The send is reached only while the flag is zero, and the byte is read in a later turn, when it is not."""
    turn = f"if (t[1]) v += b[1]; else {{ b[1] = 1; {ASK} }} t[n] = 1;"
    head = f"static double b[{SIZE}], v;\nstatic int mark, t[9];\n"
    found = judge(program(head + MAIN.format(f"for (int k = 0; k < 3; k++) {{ {turn} }}")), "b").findings
    assert [f.ok for f in found.values()] == [False]
    fixed = turn.replace("t[n] = 1;", "")
    found = judge(program(head + MAIN.format(f"for (int k = 0; k < 3; k++) {{ {fixed} }}")), "b").findings
    assert [f.ok for f in found.values()] == [True]


def test_the_budget_covers_every_set_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Running out is a finding, wherever it happens, never an exception."""
    found = program(f"static double b[{SIZE}], v;\nstatic int mark;\n" + MAIN.format(READ))
    outcomes = []
    for operations in (1500, 3000, 6000, 12_000, 1_000_000):
        monkeypatch.setattr("opi_xform.regions.sets.OPERATIONS", operations)
        judged = judge(found, "b")
        assert judged.exceeded or judged.findings
        outcomes.append(judged.exceeded)
    assert outcomes[0]
    assert not outcomes[-1]
    judged.regions.context.set_max_operations(1)
    with pytest.raises(BudgetExceeded), judged.regions.budget():
        judged.live(())  # which was not asked before
