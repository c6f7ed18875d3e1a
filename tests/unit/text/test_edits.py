"""Edits of bytes, guessed layout, places in rewritten text, and what is known of one file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.ir.span import Span
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.text.errors import PlanError
from opi_xform.text.layout import layout_of
from opi_xform.text.mapped import Mapped, Put
from opi_xform.text.sources import Sources

changes = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.binary(max_size=4)), max_size=5)


def made(gaps: list[tuple[int, int, bytes]]) -> tuple[bytes, list[ByteEdit], bytes]:
    """A text, edits of it that do not touch one another, and what they make of it."""
    before, after, edits = b"", b"", []
    for skip, length, text in gaps:
        before += b"." * (skip + 1)
        after += b"." * (skip + 1)
        edits.append(ByteEdit(len(before), len(before) + length, (), text))
        before += b"-" * length
        after += text
    return before + b"!", edits, after + b"!"


@given(changes, st.randoms())
def test_edits_replace_what_they_name_in_any_order(gaps: list[tuple[int, int, bytes]], random: object) -> None:
    before, edits, after = made(gaps)
    assert apply_edits(before, edits) == after
    assert apply_edits(before, [*reversed(edits), *edits]) == after


def test_insertions_at_one_place_stand_by_rank() -> None:
    edits = [ByteEdit(1, 1, (2,), b"second "), ByteEdit(1, 1, (1,), b"first "), ByteEdit(1, 2, (), b"B")]
    assert apply_edits(b"abc", edits) == b"afirst second Bc"


@pytest.mark.parametrize(
    "edits",
    [
        [ByteEdit(0, 2, (), b"x"), ByteEdit(1, 3, (), b"y")],
        [ByteEdit(0, 2, (), b"x"), ByteEdit(0, 2, (), b"y")],
        [ByteEdit(0, 2, (), b"x"), ByteEdit(1, 1, (), b"y")],
        [ByteEdit(2, 9, (), b"x")],
        [ByteEdit(2, 1, (), b"x")],
    ],
    ids=["overlap", "two texts for one place", "inside", "beyond the end", "backward"],
)
def test_edits_that_contradict_each_other(edits: list[ByteEdit]) -> None:
    with pytest.raises(EditConflict):
        apply_edits(b"abcd", edits)


def test_what_cannot_be_done_is_told_with_its_place() -> None:
    error = PlanError(Span("a.c", 3, 4, 7, 2), "the name is gone")
    assert str(error) == "a.c:7: the name is gone"
    assert error.reason == "the name is gone"


# --- layout -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (b"f()\n{\n  a;\n  if (b)\n    c;\n}\n", b"  "),
        (b"f()\n{\n    a;\n    if (b) {\n        c;\n    }\n}\n", b"    "),
        (b"f()\n{\n\ta;\n\tif (b)\n\t\tc;\n}\n", b"\t"),
        (b"int a;\n", b"    "),
        (b"/*\n * a\n * b\n */\nf()\n{\n   a;\n}\n", b"   "),
    ],
)
def test_the_step_of_indentation(text: bytes, step: bytes) -> None:
    assert layout_of(text).step == step


def test_where_braces_stand() -> None:
    ours = layout_of(b"  if (a) {\n    b;\n  } else {\n    c;\n  }\n")
    assert (ours.brace_on_own_line, ours.cuddled_else) == (False, True)
    allman = layout_of(b"  if (a)\n  {\n    b;\n  }\n  else\n  {\n    c;\n  }\n")
    assert (allman.brace_on_own_line, allman.cuddled_else) == (True, False)


# --- places of a text that was made of another one ------------------------------------------------------------------


def test_places_of_what_was_moved_and_put_in() -> None:
    mapped = Mapped(b"a = f(b);").replaced([(4, 8, [Put(b"g("), Put(b"", 6, 7), Put(b", 1)")])])
    assert mapped.data == b"a = g(b, 1);"
    assert mapped.before(0, False) == 0
    assert mapped.before(6, False) == 6  # b, as it stood
    assert mapped.before(mapped.data.index(b";"), False) == 8
    assert mapped.before(4, False) == 4  # in the place of `f(b)`
    assert mapped.before(11, True) == 8
    assert mapped.after(8, False) == mapped.data.index(b";")
    assert mapped.after(6, False) == 6
    span = mapped.span(Span("new.c", 4, 11, 1, 5), "old.c")
    assert (span.file, span.begin, span.end, span.line, span.column) == ("old.c", 4, 8, 1, 5)


@given(changes, changes)
def test_bytes_that_stay_keep_their_places(
    first: list[tuple[int, int, bytes]], second: list[tuple[int, int, bytes]]
) -> None:
    """Whatever is put in elsewhere, and in whatever order: each byte of the old text is found, and is itself."""
    count = sum(skip + 1 + length for skip, length, _ in first) + 1
    data = bytes(32 + i % 90 for i in range(count))
    _, edits, _ = made(first)
    mapped = Mapped(data).replaced([(e.begin, e.end, [Put(e.text)]) for e in edits])
    assert mapped.data == apply_edits(data, edits)
    gone = {i for e in edits for i in range(e.begin, e.end)}
    for i in range(count):
        if i not in gone:
            now = mapped.after(i, False)
            assert mapped.data[now] == data[i]
            assert mapped.before(now, False) == i
    again = mapped.replaced([(0, 0, [Put(b"more ")])])
    assert again.original == data
    assert all(again.before(again.after(i, False), False) == i for i in range(count) if i not in gone)
    assert again.data == b"more " + mapped.data


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_file_is_read_once_under_all_its_names(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "a.c").write_bytes(b"// one\nint a;\n")
    read = []

    def reader(name: str) -> bytes:
        read.append(name)
        return Path(name).read_bytes()

    sources = Sources(reader)
    other = f"{tmp_path}/d/../a.c"
    assert sources.name(other) == sources.name(f"{tmp_path}/a.c")
    assert sources.data(other) == sources.data(f"{tmp_path}/a.c") == b"// one\nint a;\n"
    assert sources.text(other) is sources.text(f"{tmp_path}/a.c")
    assert len(read) == 1
    with pytest.raises(FileNotFoundError):
        Sources().data(str(tmp_path / "none.c"))
