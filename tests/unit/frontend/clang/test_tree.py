"""A declaration's subtree as flat arrays, and where each of its nodes is written."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opi_xform.frontend.clang.libclang import Kind, TranslationUnit
from opi_xform.frontend.clang.source import Sources
from opi_xform.frontend.clang.tree import Places, Tree, has_attributes
from opi_xform.frontend.macros.expansions import Macros
from opi_xform.frontend.parse import on_big_stack


@contextmanager
def trees(path: Path, text: str) -> Iterator[tuple[Tree, Places]]:
    """The last declaration of a text, while its translation unit is there."""
    path.write_text(text)
    with TranslationUnit(str(path), [], None, 1) as unit:
        sources = Sources(unit, ())
        cursors = unit.top_level()
        lib = unit.lib
        sources.anchor(lib.clang_getCursorLocation(lib.clang_getTranslationUnitCursor(unit.handle)))
        sources.anchor(lib.clang_getCursorLocation(cursors[-1]))
        uses = [c for c in cursors if c.kind == Kind.MACRO_EXPANSION]
        made = [c for c in cursors if c.kind == Kind.MACRO_DEFINITION]
        macros = Macros(unit, sources, uses, made)
        declared = [c for c in cursors if c.kind in (Kind.FUNCTION_DECL, Kind.VAR_DECL)]
        tree = Tree(unit, declared[-1])
        yield tree, Places(tree, sources, macros)


expressions = st.recursive(
    st.sampled_from(["1", "a", "b[2]", "f(a)"]),
    lambda e: st.one_of(st.tuples(e, st.sampled_from("+-*"), e).map(" ".join), e.map("({})".format)),
    max_leaves=12,
)


@settings(max_examples=25, deadline=None)
@given(expressions)
def test_parents_children_and_what_is_below_agree(text: str) -> None:
    """Nodes stand in pre-order: all that is below one is a run after it, and its children point back to it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.c"
        with trees(path, f"int a, b[3]; int f(int); int g(void) {{ return {text}; }}\n") as (tree, _):
            assert tree.parent[0] == -1
            for i in range(len(tree)):
                assert tree.kids[i] == [k for k in range(len(tree)) if tree.parent[k] == i]
                below = [k for k in range(len(tree)) if i in tree.around(k)]
                assert list(tree.below(i)) == below == list(range(i + 1, i + 1 + len(below)))


def test_a_deep_expression_is_no_deep_stack(tmp_path: Path) -> None:
    text = f"int a; int g(void) {{ return {'(' * 200}a{')' * 200}; }}\n"

    def depth() -> int:
        with trees(tmp_path / "t.c", text) as (tree, _):
            return max(len(list(tree.around(i))) for i in range(len(tree)))

    assert on_big_stack(depth) > 200


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("int a;", False),
        ("__attribute__((aligned(64))) int a;", True),
        ('int a __attribute__((section("mine")));', True),
        ("#define HOT __attribute__((aligned(64)))\nHOT int a;", True),  # whoever wrote it
    ],
)
def test_a_declaration_with_attributes(declaration: str, expected: bool, tmp_path: Path) -> None:
    with trees(tmp_path / "t.c", declaration + "\n") as (tree, _):
        assert has_attributes(tree, 0) is expected


TOP = """#define TWO 2
#define SUM 1 + 2
#define ADD(x, y) ((x) + (y))
#define SET(x) a = (x);
int a, b[9]; int f(int);
"""


@pytest.mark.parametrize(
    ("statement", "kind", "written", "editable"),
    [
        ("a = b[3] + 1;", Kind.ARRAY_SUBSCRIPT_EXPR, "b[3]", True),
        ("a = f(b[3]);", Kind.CALL_EXPR, "f(b[3])", True),
        ("a = f(TWO);", Kind.CALL_EXPR, "f(TWO)", True),
        ("a = TWO;", Kind.INTEGER_LITERAL, "TWO", True),  # an object-like macro that is all of it
        ("a = TWO * b[3];", Kind.BINARY_OPERATOR, "a = TWO * b[3]", True),
        ("a = 3 * SUM;", Kind.INTEGER_LITERAL, "3", True),
        ("ADD(b[3], 1);", Kind.ARRAY_SUBSCRIPT_EXPR, "b[3]", True),  # a whole argument
        ("ADD(b[3], 1);", Kind.BINARY_OPERATOR, "ADD(b[3], 1)", False),  # the macro's own
        ("SET(b[3])", Kind.BINARY_OPERATOR, "SET(b[3])", False),
    ],
)
def test_where_a_node_is_written(statement: str, kind: Kind, written: str, editable: bool, tmp_path: Path) -> None:
    text = f"{TOP}void g(void) {{ {statement} }}\n"
    with trees(tmp_path / "t.c", text) as (tree, places):
        i = tree.kind.index(kind)
        assert text[places.begin[i] : places.end[i]] == written
        assert places.editable(i) is editable


def test_of_two_tokens_of_one_macro_neither_is_all_of_it(tmp_path: Path) -> None:
    """`3 * SUM` is `3 * 1 + 2`: the product has only a part of the macro's text."""
    text = f"{TOP}void g(void) {{ a = 3 * SUM; }}\n"
    with trees(tmp_path / "t.c", text) as (tree, places):
        products = [i for i in range(len(tree)) if tree.kind[i] == Kind.BINARY_OPERATOR]
        numbers = [i for i in range(len(tree)) if tree.kind[i] == Kind.INTEGER_LITERAL]
        assert len(products) == 3  # the assignment, the sum, the product
        assert [places.editable(i) for i in products] == [True, True, False]
        assert all(places.whole(i) is None for i in numbers)


def test_the_object_like_macro_that_a_node_is_written_as(tmp_path: Path) -> None:
    text = f"{TOP}void g(void) {{ a = TWO; }}\n"
    with trees(tmp_path / "t.c", text) as (tree, places):
        i = tree.kind.index(Kind.INTEGER_LITERAL)
        made = places.whole(i)
        assert made is not None
        assert made.name == "TWO"
        assert places.whole(0) is None


@pytest.mark.parametrize(
    ("definitions", "statement", "whole"),
    [
        ("#define FIRST p + 1", "a = *FIRST;", False),  # `*p + 1`
        ("#define FIRST (p + 1)", "a = *FIRST;", False),  # `p` is only a part of it
        ("#define FIRST p", "a = *FIRST;", True),
        ("#define FIRST (p)", "a = *FIRST;", True),
        ("#define FIRST -*p", "a = FIRST;", False),
        ("#define FIRST p + 1\n#define BOTH(x) (*x + *x)", "a = BOTH(FIRST);", False),
        ("#define FIRST (p)\n#define BOTH(x) (*x + *x)", "a = BOTH(FIRST);", True),  # twice, and whole each time
        ("#define FIRST p\n#define OTHER FIRST", "a = a + *OTHER;", True),
    ],
)
def test_a_pointer_at_the_head_of_a_macro_is_all_of_it(
    definitions: str, statement: str, whole: bool, tmp_path: Path
) -> None:
    """What stands for the pointer is written in the macro's place: the rest of the macro would be lost."""
    with trees(tmp_path / "t.c", f"{definitions}\nint a;\nvoid g(int *p) {{ {statement} }}\n") as (tree, places):
        refs = [i for i in range(len(tree)) if tree.kind[i] == Kind.DECL_REF_EXPR and places.made_by[i] is not None]
        assert refs
        assert [places.whole(i) is not None for i in refs] == [whole] * len(refs)
        assert not any(places.editable(i) for i in refs if not whole)
