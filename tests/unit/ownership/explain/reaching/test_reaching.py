"""A reason names lines that its site can come to, or that can come to it, under what is tested around both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool
from ownership_support import Source, source_in

from opi_xform.ir import instr as ins
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.later import apart, not_reached
from opi_xform.ownership.explain.reaching.in_force import in_force, of_the_site
from opi_xform.ownership.explain.reaching.numbers import fixed_by, made_of, number_of
from opi_xform.ownership.explain.reaching.turns import own_turns
from opi_xform.ownership.explain.reaching.ways import always_between, between, reached
from opi_xform.ownership.model.lines import told
from opi_xform.ownership.model.names import names_of

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 1000
"""
MAIN = """int main(int argc, char **argv)
{
    int rank, n = atoi(argv[1]);
    double s = 0, *b = malloc(N * 8);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) b[i] = i;
"""
SEND = "MPI_Send(b, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
READ = "for (int i = 0; i < N; i++) s += b[i]; // HERE"
TAIL = '    printf("%g\\n", s);\n    MPI_Finalize();\n    return 0;\n}\n'


def sites_of(text: str, folder: Path) -> list[dict[str, Any]]:
    (folder / "a.c").write_text(text)
    code, out, err = run_tool([str(folder / "a.c"), "-j", "1", "--output-format", "json"])
    assert code == 0, err
    found: list[dict[str, Any]] = json.loads(out)["sites"]
    return found


def lines(text: str, what: str) -> list[int]:
    return [i for i, line in enumerate(text.splitlines(), 1) if what in line]


def small(body: str, folder: Path) -> Source:
    start = "int rank, size = argc; MPI_Comm_rank(MPI_COMM_WORLD, &rank);"
    top = "static double b[N]; void look(double *); void one(void); void other(void); int any(int);\n"
    return source_in(folder, f"{top}int main(int argc, char **argv)\n{{\n{start}\n{body}\nreturn 0;\n}}\n")


def called(found: Source, name: str) -> int:
    """The node that calls a function."""
    (n,) = [
        node.number
        for node in found.program.graph.nodes
        if isinstance(node.action, ins.CallInstr)
        and isinstance(node.action.callee, ins.AddrFunc)
        and node.action.callee.key == name
    ]
    return n


# --- what is tested around both ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("rank == 0", "color == 1"),  # rank / 2 is 0 there
        ("rank == 4", "color == 3"),
        ("rank == 4", "odd != 0"),
        ("rank == 1", "odd == 0"),
    ],
)
def test_a_read_of_another_rank_is_not_told_flat(here: str, there: str, tmp_path: Path) -> None:
    body = f"int color = rank / 2, odd = rank % 2;\nif ({here}) {SEND}\nif ({there}) {READ}\n"
    text = HEAD + MAIN + body + TAIL
    (site,) = sites_of(text, tmp_path)
    (line,) = lines(text, "HERE")
    where = f"line {line} (`{there}`), which reads `b`, is not reached where `{here}`"
    assert (site["code"], site["message"]) == ("OPI101", f"could not show that {where}")


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("rank == 0", "color == 0"),
        ("rank == 3", "color == 1"),
        ("rank > 0", "color == 1"),
        ("rank == 0", "n > 5"),
        ("rank > 0", "rank / n > 1"),
    ],
)
def test_a_read_of_the_same_rank_is_told_flat(here: str, there: str, tmp_path: Path) -> None:
    """Ranks 2 and 3 have the color 1; and how large something else is excludes no rank."""
    body = f"int color = rank / 2;\nif ({here}) {SEND}\nif ({there}) {READ}\n"
    (site,) = sites_of(text := HEAD + MAIN + body + TAIL, tmp_path)
    assert site["message"].startswith(f"`b` is read at line {lines(text, 'HERE')[0]} after the send")


def test_a_read_of_the_sites_own_rank_is_told_first(tmp_path: Path) -> None:
    """The nearer one is of another rank."""
    body = f"int color = rank / 2;\nif (rank == 0) {SEND}\nif (color == 1) {READ.replace('HERE', 'OTHER')}\n"
    body += f"if (color == 0) {READ}\n"
    (site,) = sites_of(text := HEAD + MAIN + body + TAIL, tmp_path)
    assert site["message"].startswith(f"`b` is read at line {lines(text, 'HERE')[0]} after the send")
    assert [note["line"] for note in site["notes"]] == lines(text, "HERE")


def test_what_a_test_says_that_does_not_hold(tmp_path: Path) -> None:
    """`else` of `rank != 0` is `rank == 0`; in another function the line that asks is told."""
    before = f"static void ship(double *b)\n{{\n    {SEND}\n}}\n"
    body = f"int color = rank / 2;\nif (rank != 0) s++;\nelse\n    ship(b);\nif (color == 1) {READ}\n"
    (site,) = sites_of(text := HEAD + before + MAIN + body + TAIL, tmp_path)
    asked = lines(text, "rank != 0")[0]
    assert site["message"].endswith(f" is not reached where `rank == 0`, as line {asked} asks")


@pytest.mark.parametrize(
    ("tests", "here", "there"),
    [
        ("switch (rank) { case 0: %s break; } switch (color) { case 1: %s\n}", "rank == 0", "color == 1"),
        ("switch (rank) { case 0: %s } if (color != 0) %s", "rank == 0", "color != 0"),
        (
            "switch (rank) { case 0: %s } switch (2 * rank) { default: s++; }\nswitch (color) { case 1: %s\n}",
            "rank == 0",
            "color == 1",
        ),
    ],
)
def test_a_case_is_told_as_a_comparison(tests: str, here: str, there: str, tmp_path: Path) -> None:
    text = HEAD + MAIN + "int color = rank / 2;\n" + tests % (SEND, READ) + "\n" + TAIL
    (site,) = sites_of(text, tmp_path)
    (line,) = lines(text, "HERE")
    where = f"line {line} (`{there}`), which reads `b`, is not reached where `{here}`"
    assert site["message"] == f"could not show that {where}"


def test_numbers_that_are_computed_from_others(tmp_path: Path) -> None:
    found = small(
        "int color = any(rank) ? rank / 2 : rank / 3; if (color == 1) one(); if (rank == 0) other();", tmp_path
    )
    program = found.program
    assert apart(program, called(found, "other"), called(found, "one")) is not None  # how is not followed
    symbols, joins = program.values.symbols, program.values.joins
    tests = [(c.left - c.right, frozenset({0})) for c in program.values.conditions.values() if c.op == "=="]
    (rank,) = [s for test in tests for s in fixed_by([test]) if test[0].constant_term == 0]
    (color,) = [p for p, _ in tests if p.constant_term == -1]
    assert rank in made_of(symbols, joins, symbols.resolve(color))
    assert number_of(symbols, color, {rank: 0}) is None


# --- memory of its own in each turn --------------------------------------------------------------------------------


def test_a_read_of_another_arm_with_memory_of_the_same_turn(tmp_path: Path) -> None:
    """Each turn has memory of its own and asks for itself: none comes to both arms with the same one."""
    body = """for (int t = 0; t < n; t++) {
    double *c = malloc(N * 8);
    int to = atoi(argv[t]);
    memset(c, t, N * 8);
    for (int k = 0; k < n; k++) {
        if (rank < to) { c[0] = k; MPI_Send(c, N, MPI_DOUBLE, to, 0, MPI_COMM_WORLD); } // LESS
        else { c[1] = k; MPI_Send(c, N, MPI_DOUBLE, to, 1, MPI_COMM_WORLD); } // MORE
    }
    free(c);
}
"""
    text = HEAD + MAIN + body + TAIL
    for site, what in zip(sites_of(text, tmp_path), ("LESS", "MORE"), strict=True):
        (line,) = lines(text, what)
        assert site["message"].startswith(f"not all bytes of `c` that line {line} sends are surely written")
        assert {note["line"] for note in site["notes"]} == {line}


def test_a_row_of_a_table_is_sent_by_one_arm(tmp_path: Path) -> None:
    """What is asked for a row is the same each time: who has sent it here never sends it there."""
    body = """double *out[6];
int to[6];
for (int i = 0; i < 6; i++) { out[i] = malloc(N * 8); to[i] = atoi(argv[i]); }
for (int t = 0; t < n; t++)
    for (int d = 0; d < 6; d++) {
        int k = 0;
        for (int i = t; i < n; i++) out[d][k++] = b[i];
        if (to[d] < rank) MPI_Send(out[d], N, MPI_DOUBLE, to[d], 0, MPI_COMM_WORLD); // LESS
        else MPI_Send(out[d], N, MPI_DOUBLE, to[d], 1, MPI_COMM_WORLD); // MORE
    }
"""
    text = HEAD + MAIN + body + TAIL
    for site, what in zip(sites_of(text, tmp_path), ("LESS", "MORE"), strict=True):
        (line,), (other,) = lines(text, what), lines(text, {"LESS": "MORE", "MORE": "LESS"}[what])
        assert f"line {line} sends" in site["message"]
        assert other not in {note["line"] for note in site["notes"]}


@pytest.mark.parametrize(
    ("before", "turn", "own"),
    [
        ("", "double *c = malloc(8 * N); SEND free(c);", True),
        ("", "double *c = NULL; if (size > t) c = malloc(8 * N); SEND free(c);", True),
        ("double *c = NULL;", "if (!c) c = malloc(8 * N); SEND", False),  # once for all turns
        ("double *k = NULL;", "if (!k) k = malloc(8 * N); double *c = k; SEND", False),
        ("double *c = malloc(8 * N);", "SEND", False),
        ("", "double c[N]; SEND", True),
    ],
)
def test_turns_with_memory_of_their_own(before: str, turn: str, own: bool, tmp_path: Path) -> None:
    send = "c[0] = t; MPI_Send(c, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);"
    found = small(f"{before} for (int t = 0; t < size; t++) {{ {turn.replace('SEND', send)} }}", tmp_path)
    (use,) = collect(found.program)
    assert bool(own_turns(found.program, use)) is own


# --- ways ------------------------------------------------------------------------------------------------------------


def test_what_lies_between(tmp_path: Path) -> None:
    found = small("look(b); if (rank) one(); other(); printf(b);", tmp_path)
    first, one, other, last = (called(found, name) for name in ("look", "one", "other", "printf"))
    assert between(found.program, one, last, [first, one, other, last]) == [other]
    assert between(found.program, first, last, [one, other]) == [one, other]
    assert always_between(found.program, first, other, last)
    assert not always_between(found.program, first, one, last)


def test_between_is_not_around_a_loop_of_other_memory(tmp_path: Path) -> None:
    found = small("for (int t = 0; t < size; t++) { look(b); one(); other(); }", tmp_path)
    first, one, other = (called(found, name) for name in ("look", "one", "other"))
    assert between(found.program, one, one, [first, other]) == [first, other]
    assert between(found.program, one, one, [first, other], [0]) == []


def test_notes_of_writes_lie_between_the_sends(tmp_path: Path) -> None:
    body = f"memset(b, 0, N * 8); // BEFORE\n{SEND}\nif (n > 1) b[n] = s; // HERE\n{SEND}\nb[0] = s; // BEHIND\n"
    text = HEAD + MAIN + body + TAIL
    first = sites_of(text, tmp_path)[0]
    assert [note["line"] for note in first["notes"]] == [lines(text, SEND)[1], *lines(text, "HERE")]


# --- assignments -----------------------------------------------------------------------------------------------------


def test_assignments_in_force(tmp_path: Path) -> None:
    found = small("double *p = b; if (rank == 0) p = b + 1; else { p = b + 2; look(p); } p = b + 3; other();", tmp_path)
    names, at = names_of(found.program), called(found, "look")
    defs = names.defs["v", found.program.values.objects.variable(0, found.key("p")), 0]
    values = {d: getattr(found.program.graph.nodes[d].action, "value", None) for d in defs}
    text = {d: str(value).count("value=16") for d, value in values.items()}
    assert [text[d] for d in in_force(found.program, defs, at)] in ([1], [0])
    assert len(in_force(found.program, defs, at)) == 1
    assert in_force(found.program, defs, called(found, "other")) == [max(defs)]
    assert of_the_site(found.program, [max(defs)], [at]) == [max(defs)]  # it comes later


def test_the_assignment_of_a_parameter_is_that_of_the_sites_arm(tmp_path: Path) -> None:
    arm = """        out = malloc(n * 8);
        for (int i = 0; i < n; i++) out[i] = g[i];
        MPI_Send(out, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(out, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) g[i] = out[i];
        free(out);
"""
    before = "static void swap(double *g, double *out __attribute__((unused)), int rank, int n)\n{\n"
    before += f"    if (rank > 0) {{\n{arm}    }}\n    if (rank < 1) {{\n{arm}    }}\n}}\n"
    text = HEAD + before + MAIN + "double *out = NULL;\nswap(b, out, rank, n);\n" + TAIL
    found = sites_of(text, tmp_path)
    changed = [site for site in found if site["message"].endswith("and is changed")]
    told_at = [note["line"] for site in changed for note in site["notes"]]
    assert list(dict.fromkeys(told_at)) == lines(text, "out = malloc")


def test_the_datatype_is_the_one_that_the_site_can_have(tmp_path: Path) -> None:
    make = "MPI_Type_vector(N / 4, 2, 4, MPI_DOUBLE, &t); MPI_Type_commit(&t);"
    send, receive = "MPI_Send(b, 1, t, 1, 0, MPI_COMM_WORLD);", "MPI_Recv(b, 1, t, 0, 0, MPI_COMM_WORLD, &st);"
    body = f"MPI_Datatype t;\nMPI_Status st;\nif (rank != 0) {{\n{make}\n{send}\n}} else {{\n{make}\n{receive}\n}}\n"
    text = HEAD + MAIN + body + TAIL
    found = sites_of(text, tmp_path)
    made = lines(text, "MPI_Type_vector")
    assert [[note["line"] for note in site["notes"]] for site in found] == [[line] for line in made]
    assert all(f"`MPI_Type_vector` at line {line}" in site["message"] for site, line in zip(found, made, strict=True))


def test_words_of_what_is_not_reached(tmp_path: Path) -> None:
    """A condition that a macro writes, or that is long, goes by its line."""
    wide = " + ".join(["size"] * 12)
    body = f"#define FIRST (rank == 0)\nint c = rank / 2;\nif (FIRST) {{ {SEND} }}\nif (c == 1 + 0 * ({wide})) look(b);"
    found = small(body, tmp_path)
    (use,) = collect(found.program)
    n = called(found, "look")
    file = node_span(found.program, n).file
    message = told(not_reached(found.program, use, n, "which reads it"), file)
    line, asked = found.line("look(b);"), found.line("if (FIRST)")
    where = f"line {line} (after the test in line {line}), which reads it, is not reached where"
    assert message == f"could not show that {where} after the test in line {asked}"


def test_a_range_is_no_question_for_one_process(tmp_path: Path) -> None:
    """What a process does in a range that is computed from its rank it does on rank 0, too, as far as is known."""
    found = small("int from = any(rank) ? rank : 9; if (from <= size) one(); if (rank == 0) other();", tmp_path)
    assert apart(found.program, called(found, "other"), called(found, "one")) is None
    assert apart(found.program, called(found, "one"), called(found, "other")) is None


def test_a_send_that_another_call_of_its_function_makes_again(tmp_path: Path) -> None:
    """Nothing is written in between: the calls are told, not the line of the send."""
    before = f"static void give(double *b)\n{{\n    {SEND}\n}}\n"
    body = "give(b); // FIRST\ngive(b); // SECOND\nfree(b);\n"
    (site,) = sites_of(text := HEAD + before + MAIN + body + TAIL, tmp_path)
    assert site["code"] == "OPI102"
    assert site["message"].startswith("this call sends `b` once more where `give` is called again, and nothing")
    assert [note["line"] for note in site["notes"]] == [*lines(text, "FIRST"), *lines(text, "SECOND")]
    written = body.replace("FIRST\n", "FIRST\nb[7] = n;\n")
    (site,) = sites_of(HEAD + before + MAIN + written + TAIL, tmp_path)
    assert "once more" not in site["message"]


# --- what ways lead to ---------------------------------------------------------------------------------------------


def test_what_is_reached_past_no_stop(tmp_path: Path) -> None:
    """Node by node: the rest of the start's block, then blocks from their beginnings, its own once more in a loop."""
    body = "for (int i = 0; i < size; i++) { one(); if (i == rank) { other(); continue; } look(b); }\nlook(b);"
    graph = small(body, tmp_path).program.graph
    everything = range(len(graph.nodes))

    def walked(start: int, stop: int, barred: set[int]) -> set[int]:
        found, seen, work = set[int](), set(barred), [(graph.nodes[start].block, start)]
        for block, after in work:
            for n in (n for n in graph.blocks[block] if n > after):
                if n == stop:
                    break
                found.add(n)
            else:
                fresh = [b for b in graph.succs[block] if b not in seen]
                seen.update(fresh)
                work += [(b, -1) for b in fresh]
        return found

    for start in everything:
        for stop in everything:
            for barred in (set[int](), {graph.nodes[stop].block}):
                assert reached(graph, start, everything, {stop}, barred) == walked(start, stop, barred)
