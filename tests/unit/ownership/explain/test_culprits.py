"""Which accesses decide that a site stays: each is tried as if it were the only one that reads."""

from __future__ import annotations

import ownership_support
import pytest
from ownership_support import Source, source

from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.culprits import (
    in_turn,
    least_count,
    readers_after,
    readers_of,
    readers_of_first_contents,
    readers_of_no_contents,
    touches_beyond,
    unwritten,
)
from opi_xform.ownership.explain.reaching.in_common import meets
from opi_xform.ownership.explain.reaching.ways import ahead
from opi_xform.ownership.explain.sure_reads import surely_read
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Use

TOP = "static double b[N], v[N];\n"
PACK = "for (int i = 0; i < N; i++) b[i] = i;"
SEND = "MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
FIRST = "MPI_Send(b, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
RECV = "MPI_Recv(b, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"


@pytest.fixture(autouse=True)
def null(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the number any source may be MPI_PROC_NULL, and a receive brings nothing."""
    monkeypatch.setattr(ownership_support, "HEADER", ownership_support.HEADER + "#define MPI_PROC_NULL (-1)\n")


class Asked:
    """A program with one buffer, and the first use of it."""

    def __init__(self, body: str) -> None:
        self.source: Source = source(f"{TOP}int main(int argc, char **argv)\n{{\n{body}\nreturn 0;\n}}\n")
        buffer = self.source.buffers["b"]
        self.use: Use = min(buffer.uses, key=lambda use: use.node)
        self.judge = Judge(self.source.program, buffer, self.use.object, strict=False)

    def lines(self, nodes: object) -> list[int]:
        assert isinstance(nodes, (tuple, list, set))
        return [node_span(self.source.program, n).line for n in nodes]

    def line(self, mark: str) -> int:
        return self.source.line(f"// {mark}")

    def node(self, mark: str) -> int:
        """The node of a line that reads or sends the buffer."""
        (n,) = (n for n in readers_of(self.judge) if self.lines([n]) == [self.line(mark)])
        return n


@pytest.mark.parametrize(
    ("behind", "decides"),
    [
        ("v[0] = b[3]; // ONE", ["ONE"]),
        ("v[0] = b[3]; // ONE\nv[1] = b[4]; // TWO\nv[2] = b[5];", ["ONE", "TWO"]),  # two are told, not three
        ("b[3] = 1;\nv[0] = b[3];\nv[1] = b[4]; // ONE", ["ONE"]),  # the first reads what is new
        ("if (argc > 2) v[0] = b[3]; // ONE\nb[3] = 1; v[1] = b[3];", ["ONE"]),
        (f"{SEND} // ONE\nv[0] = b[3]; // TWO", ["TWO", "ONE"]),  # who reads the data goes before who sends it again
    ],
)
def test_the_reads_behind_a_send_that_need_its_bytes(behind: str, decides: list[str]) -> None:
    asked = Asked(f"{PACK}\n{SEND}\n{behind}")
    assert asked.lines(readers_after(asked.judge, asked.use)) == [asked.line(mark) for mark in decides]


def test_where_many_read_the_first_that_decides_is_found_among_the_far_ones() -> None:
    """More than are tried one by one: what is read where it was written anew does not count."""
    fresh = "\n".join(f"b[{i}] = {i}; v[{i}] = b[{i}];" for i in range(20))
    asked = Asked(f"{PACK}\n{SEND}\n{fresh}\nv[30] = b[30]; // ONE\nv[31] = b[31];")
    assert asked.lines(readers_after(asked.judge, asked.use)) == [asked.line("ONE")]


def test_what_is_read_behind_a_receive_is_what_it_does_not_bring() -> None:
    asked = Asked(f"{PACK}\n{RECV}\nv[0] = b[3];\nv[1] = b[20]; // ONE")
    assert asked.lines(readers_after(asked.judge, asked.use)) == [asked.line("ONE")]


def test_first_contents_are_read_by_what_reads_before_a_write() -> None:
    asked = Asked(f"b[0] = 1; v[0] = b[0];\nv[1] = b[1]; // ONE\n{PACK}\n{SEND}")
    assert asked.lines(readers_of_first_contents(asked.judge)) == [asked.line("ONE")]


def test_memory_that_nobody_wrote_is_read_by_what_reads_before_a_write() -> None:
    asked = Asked(f"double *b = malloc(N * 8);\nb[0] = 1; v[0] = b[0];\nv[1] = b[1]; // ONE\n{PACK}\n{SEND}\nfree(b);")
    assert asked.lines(readers_of_no_contents(asked.judge)) == [asked.line("ONE")]
    assert unwritten(asked.judge, ())
    assert not unwritten(asked.judge, [asked.node("ONE")])  # nothing else reads what nobody wrote
    two = Asked(f"double *b = malloc(N * 8);\nv[0] = b[0]; // ONE\nv[1] = b[1];\n{PACK}\n{SEND}\nfree(b);")
    assert unwritten(two.judge, [two.node("ONE")])


@pytest.mark.parametrize(
    ("behind", "beyond"),
    [
        ("v[0] = b[9];\nv[1] = b[10]; // ONE", ["ONE"]),
        ("b[argc] = 1; // ONE\nv[1] = b[3];", ["ONE"]),
        ("for (int i = 0; i < 10; i++) v[i] = b[i];\nfor (int i = 0; i <= 10; i++) v[i] = b[i]; // ONE", ["ONE"]),
    ],
)
def test_what_touches_more_than_a_receive_makes_room_for(behind: str, beyond: list[str]) -> None:
    asked = Asked(f"{RECV}\n{behind}")
    assert sorted(set(asked.lines(touches_beyond(asked.judge, asked.use)))) == [asked.line(mark) for mark in beyond]


@pytest.mark.parametrize(
    ("read", "common"),
    [
        ("v[0] = b[3]; // ONE", True),
        ("v[0] = b[10]; // ONE", False),  # right after the message
        ("v[0] = b[argc]; // ONE", None),  # with some numbers only
        ("for (int i = 10; i < N; i++) v[i] = b[i]; // ONE", False),
    ],
)
def test_whether_a_read_and_the_message_have_bytes_in_common(read: str, common: bool | None) -> None:
    asked = Asked(f"{PACK}\n{FIRST}\n{read}")
    assert meets(asked.judge, asked.use, asked.node("ONE")) is common


def test_what_another_turn_of_a_loop_reads_need_not_be_of_the_message() -> None:
    """Both name the turn by its number, which is another one then: each turn reads further on than all sends before."""
    turn = "MPI_Send(b + t, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
    asked = Asked(f"{PACK}\nfor (int t = 0; t < 9; t++) {{\n{turn}\nv[t] = b[t]; // ONE\n}}")
    assert meets(asked.judge, asked.use, asked.node("ONE")) is True
    asked = Asked(f"{PACK}\nfor (int t = 0; t < 9; t++) {{\nv[t] = b[t]; // ONE\n{turn}\n}}")
    assert meets(asked.judge, asked.use, asked.node("ONE")) is False


@pytest.mark.parametrize(
    ("body", "same"),
    [
        (f"for (int t = 0; t < 9; t++) {{\n{SEND} // HERE\nv[t] = b[t]; // ONE\n}}", True),
        (f"for (int t = 0; t < 9; t++) {{\nv[t] = b[t]; // ONE\n{SEND} // HERE\n}}", False),
        (
            f"for (int t = 0; t < 9; t++) {{\nif (argc > 2) {{ {SEND} // HERE\n}} else v[t] = b[t]; // ONE\n}}",
            False,
        ),
    ],
)
def test_what_is_reached_in_the_same_turn_of_a_loop(body: str, same: bool) -> None:
    asked = Asked(f"{PACK}\n{body}")
    one, nest = asked.node("ONE"), asked.source.program.nest
    around = nest.chain(asked.source.program.graph.nodes[one].block)
    assert around
    assert in_turn(asked.judge.program, asked.use.node, one, around) is same


@pytest.mark.parametrize(
    ("read", "least"),
    [
        ("for (int i = 0; i < argc; i++) v[i] = b[i];", 0),
        ("v[0] = b[0];", 1),  # the first element: brought by a message that is not empty
        ("v[0] = b[1];", None),
    ],
)
def test_how_many_elements_a_receive_would_have_to_bring(read: str, least: int | None) -> None:
    received = RECV.replace("10", "argc")
    asked = Asked(f"{PACK}\n{received}\n{read}")
    assert least_count(asked.judge, asked.use) == least


def test_nodes_in_the_order_of_a_walk_that_comes_back_to_its_start() -> None:
    asked = Asked(
        f"{PACK}\nfor (int t = 0; t < 9; t++) {{\nv[2] = b[0]; // TWO\n{SEND} // HERE\nv[0] = b[1]; // ONE\n}}"
    )
    wanted = {asked.node("ONE"), asked.node("TWO"), asked.use.node}
    assert asked.lines(ahead(asked.source.program.graph, asked.use.node, wanted)) == [
        asked.line("ONE"),
        asked.line("TWO"),
        asked.line("HERE"),
    ]


@pytest.mark.parametrize(
    ("body", "surely"),
    [
        (f"{PACK}\n{SEND}\nv[0] = b[3]; // ONE", ["ONE"]),
        (f"{PACK}\n{SEND}\nv[0] = b[argc]; // ONE", ["ONE"]),
        (f"{PACK}\n{FIRST}\nv[0] = b[20];", []),  # not of the message
        (f"{PACK}\n{SEND}\n{PACK}\nv[0] = b[3];", []),
        (f"{PACK}\n{SEND}\n{SEND} // TWO\nv[0] = b[3]; // ONE", ["ONE", "TWO"]),  # sends last
    ],
)
def test_reads_that_surely_need_a_byte_of_the_message(body: str, surely: list[str]) -> None:
    asked = Asked(body)
    assert asked.lines(surely_read(asked.judge, asked.use)) == [asked.line(mark) for mark in surely]
