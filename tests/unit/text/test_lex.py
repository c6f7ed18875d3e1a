"""What is comment, literal and directive in a C file, and what stands where: on texts whose parts are known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opi_xform.text.lex import COMMENT, DIRECTIVE, LITERAL, SourceText, on_one_line

CODE = ("int a = 1;", "f(a, b);", "x /= 2;", "{", "}", "a[3] = b - c;", "/ 2 *")
COMMENTS = ("/* a */", "/* \" ' # */", "/* two\n lines */", "/* // */", "/***/")
LITERALS = ('"text"', '"/* none */"', '"\\""', "'\\''", "'\"'", '"//"', '""')
LINES = (
    "#define A 1",
    "  # if X",
    "#include <mpi.h>",
    "#define B \\\n 2",
    '#define S "a // b"',
    "#define C /* one\n two */ 3",
)
part = st.one_of(
    st.sampled_from(CODE).map(lambda t: ("", t)),
    st.sampled_from(COMMENTS).map(lambda t: (COMMENT, t)),
    st.sampled_from(LITERALS).map(lambda t: (LITERAL, t)),
    st.sampled_from(LINES).map(lambda t: (DIRECTIVE, t)),
    st.just((COMMENT, "// to the end")),
)


@given(st.lists(part, max_size=8), st.sampled_from((b"\n", b"\r\n")))
def test_regions_are_the_parts_that_the_text_was_made_of(parts: list[tuple[str, str]], eol: bytes) -> None:
    data, expected = b"", []
    for kind, text in parts:
        whole = text.encode().replace(b"\n", eol)
        if kind:
            expected.append((len(data), len(data) + len(whole), kind))
        data += whole + eol
    text_ = SourceText(data)
    assert [(r.begin, r.end, r.kind) for r in text_.regions] == expected
    for begin, end, _ in expected:
        assert {text_.region_at(i) for i in range(begin, end)} == {text_.region_at(begin)}
        found = text_.region_at(end)
        assert found is None or found.begin == end


@given(st.binary(max_size=60))
def test_any_bytes_have_regions_in_order(data: bytes) -> None:
    text = SourceText(data)
    ends = [0, *(x for r in text.regions for x in (r.begin, r.end)), len(data)]
    assert ends == sorted(ends)


def test_lines() -> None:
    text = SourceText(b"one\r\n  two\n\nend")
    assert [text.line_start(i) for i in (0, 3, 5, 9, 11, 13)] == [0, 0, 5, 5, 11, 12]
    assert [text.line_end(i) for i in (0, 5, 11, 12)] == [3, 10, 11, 15]
    assert [text.next_line(i) for i in (0, 6, 11, 12)] == [5, 11, 12, 15]
    assert text.indent(8) == b"  "
    assert text.indent(1) == b""
    assert text.first_on_line(7)
    assert not text.first_on_line(8)


def test_a_mark_of_byte_order_is_no_text() -> None:
    text = SourceText(b"\xef\xbb\xbf#define A\nint a;")
    assert text.begin == 3
    assert text.line_start(5) == 3
    assert text.in_directive(4)
    assert text.after(0) == text.data.index(b"int")


@pytest.mark.parametrize(("data", "eol"), [(b"a\nb\n", b"\n"), (b"a\r\nb\r\nc\n", b"\r\n"), (b"a\r\nb\nc\n", b"\n")])
def test_the_line_end_that_most_lines_have(data: bytes, eol: bytes) -> None:
    assert SourceText(data).eol == eol


def test_a_comment_at_a_line_s_begin_ends_where_it_ends() -> None:
    """The next comment, before a directive, is another one: what is between them is code."""
    data = b"/* one */\nint a;\n/* two */ #define B 2\n"
    text = SourceText(data)
    assert not text.in_directive(data.index(b"int"))
    assert text.in_directive(data.index(b"define"))


@pytest.mark.parametrize(
    ("data", "last", "directive", "comment"),
    [
        (b"a ; | b", b";", False, False),
        (b"a ; /* c */ | b", b";", False, True),
        (b"a ;\n#define X\n| b", b";", True, False),
        (b'f("x" | b', b'"', False, False),
        (b"if (a)\n#if X\n  one;\n#else\n| two;", b")", True, False),  # what is under the `#if` is another text
        (b"a \\\n| b", b"a", False, False),
        (b"| b", b"", False, False),
    ],
)
def test_the_token_before(data: bytes, last: bytes, directive: bool, comment: bool) -> None:
    at = data.index(b"|")
    found = SourceText(data.replace(b"|", b"")).before(at)
    assert data[: found.end].endswith(last)
    assert bool(found.end) == bool(last)
    assert (found.directive, found.comment) == (directive, comment)


@pytest.mark.parametrize(
    ("data", "next_"),
    [(b"|  b", b"b"), (b"| /* c */ b", b"b"), (b'| "x" b', b'"x" b'), (b"|\n#if A\nb", b"b"), (b"| // c", b"")],
)
def test_the_token_behind(data: bytes, next_: bytes) -> None:
    text = SourceText(data.replace(b"|", b""))
    assert text.data[text.after(0) :] == next_


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"[a;]\n", False),
        (b"#if A\n[a;\n#endif\nb;]", True),
        (b"[#if A\na;\n#endif\nb;]", False),
        (b"[a;\n#if A\nb;]\n#endif\n", True),
        (b"#if A\n[a;\n#else\nb;]\n#endif\n", True),
        (b"[a;\n#if A\n#if B\n#endif\n#endif\nb;]", False),
    ],
)
def test_pieces_that_conditions_split(data: bytes, expected: bool) -> None:
    begin = data.index(b"[")
    data = data.replace(b"[", b"")
    end = data.index(b"]")
    assert SourceText(data.replace(b"]", b"")).split(begin, end) == expected


def test_words() -> None:
    text = SourceText(b"int _a1 = b;")
    assert text.word_at(4) == b"_a1"
    assert text.word_at(3) == b""
    assert text.word_before(7) == b"_a1"
    assert text.word_before(9) == b""


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b"f|(a)|", b"(a)"),
        (b"f|(g(a), h(b))|", b"(g(a), h(b))"),
        (b"f|(\")\", ')', /* ) */ a)|", b"(\")\", ')', /* ) */ a)"),
    ],
)
def test_brackets_that_belong_together(data: bytes, whole: bytes) -> None:
    text = SourceText(data.replace(b"|", b""))
    begin = data.index(b"|")
    assert text.data[begin : text.close_paren(begin)] == whole
    assert text.open_paren(begin + len(whole)) == begin


def test_brackets_that_do_not() -> None:
    assert SourceText(b"(a; b)").close_paren(0) == -1
    assert SourceText(b"(a").close_paren(0) == -1
    assert SourceText(b"a)").open_paren(2) == -1


@pytest.mark.parametrize(
    ("data", "rest"),
    [
        (b"a;| // c\nb", b"\nb"),
        (b"a;| /* c */  \r\nb", b"\r\nb"),
        (b"a;| /* c\n d */\nb", b"\nb"),
        (b"a;| b;\n", None),
        (b"a;|", b""),
    ],
)
def test_the_rest_of_a_line(data: bytes, rest: bytes | None) -> None:
    text = SourceText(data.replace(b"|", b""))
    end = text.tail_end(data.index(b"|"))
    assert (None if end is None else text.data[end:]) == rest


@pytest.mark.parametrize(
    ("data", "attached"),
    [
        (b"a;\n// of b\n| b;", b"// of b\n b;"),
        (b"a;\n\n/* of\n   b */\n| b;", b"/* of\n   b */\n b;"),
        (b"a;\n// no\n\n| b;", b" b;"),
        (b"a; // of a\n| b;", b" b;"),
        (b"a;\n#pragma omp for\n| b;", b"#pragma omp for\n b;"),
        (b"a;\n#if X\n#pragma omp for\n#endif\n| b;", b"#if X\n#pragma omp for\n#endif\n b;"),
    ],
)
def test_comments_and_pragmas_above(data: bytes, attached: bytes) -> None:
    text = SourceText(data.replace(b"|", b""))
    assert text.data[text.comment_block_above(data.index(b"|"), 2) :] == attached


def test_what_is_put_behind_a_comment_begins_a_line_of_its_own() -> None:
    """In a file with CRLF the end of a line is both bytes: nothing may come between them."""
    text = SourceText(b"a; // c\r\nb;\r\n")
    assert text.tail_end(2) == text.data.index(b"\r\n")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("n // count\n * 8", "n \n * 8"),
        ("n /* see http://x */ * 8", "n /* see http://x */ * 8"),
        ("n // count, \\\n and more\n * 8", "n \n * 8"),
        ("n \\\n* 8", "n * 8"),
        ('f("//") + g(\'"\') // end', 'f("//") + g(\'"\') '),
    ],
)
def test_what_may_stand_on_one_line(text: str, whole: str) -> None:
    assert on_one_line(text) == whole
