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
