"""What variables hold, block by block: against whole copies of the state, on random trees of dominators."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opi_xform.memory.environment import Cell, Environment
from opi_xform.memory.poly import Poly, number

CELLS: tuple[Cell, ...] = ((0, 0), (1, 8), ("t", 0, 3), ("v", 2))
changes = st.lists(st.tuples(st.sampled_from(CELLS), st.none() | st.integers(0, 5)), max_size=4)


@st.composite
def passes(draw: st.DrawFn) -> list[tuple[int, list[tuple[Cell, int | None]]]]:
    """Of each block, its immediate dominator, which has a lower number, and what it puts (None: drops)."""
    count = draw(st.integers(1, 9))
    return [(draw(st.integers(0, max(0, b - 1))), draw(changes)) for b in range(count)]


def run(blocks: list[tuple[int, list[tuple[Cell, int | None]]]]) -> tuple[Environment, list[dict[Cell, Poly]]]:
    """The pass, and the state at each block's end as whole copies have it."""
    env = Environment([above for above, _ in blocks])
    ends: list[dict[Cell, Poly]] = []
    for b, (above, done) in enumerate(blocks):
        env.begin(b)
        state = dict(ends[above]) if b else {}
        assert env.now == state
        for cell, value in done:
            if value is None:
                env.drop(cell)
                state.pop(cell, None)
            else:
                env.put(cell, number(value))
                state[cell] = number(value)
        assert env.now == state
        env.end()
        ends.append(state)
    return env, ends


@given(passes())
def test_each_block_begins_with_what_its_dominator_left(
    blocks: list[tuple[int, list[tuple[Cell, int | None]]]],
) -> None:
    run(blocks)


@given(passes())
def test_ends_are_remembered(blocks: list[tuple[int, list[tuple[Cell, int | None]]]]) -> None:
    env, ends = run(blocks)
    env.close()
    assert env.now == {}
    for b, end in enumerate(ends):
        assert b in env
        for cell in CELLS:
            assert env.at_end(b, cell) == end.get(cell)
    assert len(ends) not in env


@given(passes())
def test_changes_lead_from_a_dominator_to_a_block(blocks: list[tuple[int, list[tuple[Cell, int | None]]]]) -> None:
    """Applied to what the dominator left, they give the block's end; a cell that was put and dropped is gone."""
    env, ends = run(blocks)
    for b in range(len(blocks)):
        above = b
        while above:
            above = blocks[above][0]
            state: dict[Cell, Poly | None] = dict(ends[above])
            state.update(env.changes(b, above))
            assert {cell: value for cell, value in state.items() if value is not None} == ends[b]


def test_nothing_changes_on_the_way_to_oneself() -> None:
    env, _ = run([(0, [(CELLS[0], 1)]), (0, [(CELLS[1], 2)])])
    assert env.changes(1, 1) == {}
    assert env.changes(1, 0) == {CELLS[1]: number(2)}
