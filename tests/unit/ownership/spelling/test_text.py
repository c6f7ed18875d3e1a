"""Where identifiers stand in the bytes of files."""

from pathlib import Path

import pytest

from opi_xform.ownership.spelling.text import Texts

MACROS = "#define LEN(x) (sizeof(x) / sizeof((x)[0]))\n#define COUNT(x) ((int)LEN(x))\n#define TWICE(x) ((x) + (x))\n"


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
    path.write_text(MACROS + code)
    ((at, unevaluated, _),) = Texts([str(path)]).occurrences(str(path), "b")
    assert unevaluated is asked
    assert path.read_bytes()[at : at + 1] == b"b"


def test_macros_that_show_what_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    macros = '#define SHOW(x) puts(#x)\n#define ALSO(x) SHOW(x)\n#define LOG(x) printf("# %d", x)\n'
    code = macros + "int f(void) { ALSO((b)); }"
    path.write_text(code)
    texts = Texts([str(path)])
    assert texts.given_to(str(path), code.index("b));")) == [b"ALSO"]
    assert texts.shows([b"ALSO"])
    assert not texts.shows([b"LOG", b"f"])


def test_macros_of_the_flags_ask_for_sizes(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("enum { N = LEN(b) };")
    texts = Texts([str(path)], ["#define LEN(x) sizeof(x)\n"])
    assert texts.occurrences(str(path), "b") == [(15, True, False)]


def test_macros_that_look_at_types(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("#define SAME(x) __typeof__(x)\n#define MAX(a, b) ({ SAME(a) c = (a); c > (b) ? c : (b); })\n")
    texts = Texts([str(path)])
    assert texts.looks_at_types("n = MAX(n, 1);")
    assert texts.looks_at_types("__auto_type p = q;")
    assert not texts.looks_at_types("n = sizeof n;")
