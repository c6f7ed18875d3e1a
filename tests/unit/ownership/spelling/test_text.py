"""Where identifiers stand in the bytes of files."""

from pathlib import Path

import pytest

from opi_xform.ownership.spelling.text import Texts

MACROS = [("LEN", "(sizeof(x) / sizeof((x)[0]))"), ("COUNT", "((int)LEN(x))"), ("TWICE", "((x) + (x))")]


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("enum { N = sizeof b };", True),
        ("enum { N = sizeof(b) };", True),
        ("enum { N = sizeof((b)) };", True),
        ("enum { N = sizeof(*(b)) };", True),
        ("enum { N = LEN(b) };", True),
        ("enum { N = COUNT((b)) };", True),
        ("enum { N = TWICE(b) };", False),
        ("int n = f(sizeof(int), b);", False),
        ("int n = b;", False),
    ],
)
def test_names_whose_size_or_type_is_asked_for(code: str, asked: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(code)
    ((at, unevaluated, _),) = Texts(MACROS).occurrences(str(path), "b")
    assert unevaluated is asked
    assert path.read_bytes()[at : at + 1] == b"b"


def test_macros_that_show_what_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    code = "int f(void) { ALSO((b)); }"
    path.write_text(code)
    texts = Texts([("SHOW", "puts(# x)"), ("ALSO", "SHOW(x)"), ("LOG", 'printf("# %d", x)')])
    assert texts.given_to(str(path), code.index("b));")) == [b"ALSO"]
    assert texts.shows([b"ALSO"])
    assert not texts.shows([b"LOG", b"f"])


def test_macros_that_look_at_types() -> None:
    texts = Texts(
        [("SAME", "__typeof__(x)"), ("MAX", "({ SAME(a) c = (a); c > (b) ? c : (b); })"), ("größe", "a ## b")]
    )
    assert texts.looks_at_types("n = größe(ty, peof)(n);")
    assert texts.looks_at_types("n = MAX(n, 1);")
    assert texts.looks_at_types("__auto_type p = q;")
    assert not texts.looks_at_types("n = sizeof n;")
