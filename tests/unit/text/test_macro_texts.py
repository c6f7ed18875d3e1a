"""What macros write, by their text."""

import pytest

from opi_xform.text.macros import Macros, closing, opening, without_comments

TEXT = b"""
#define ATTR(x) __attribute__((x))
#define LIST(l) __attribute__ l
#define UNUSED __attribute__((unused))
#define FREED(f) UNUSED ATTR(cleanup(f))
#define WORD __attribute__
#define CHECK(e) do { int r UNUSED = (e); } while (0)
#define JUMP(a) asm("jmp " #a)
#define HOP JUMP(f)
"""


def test_macros_around_what_they_are_given() -> None:
    around = Macros([TEXT]).around([b"__attribute__"])
    assert around == {b"__attribute__", b"ATTR", b"LIST", b"FREED", b"WORD"}


def test_macros_in_which_a_word_stands() -> None:
    assert Macros([TEXT]).naming([b"asm"]) == {b"JUMP", b"HOP"}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (b"int f(void) ATTR(pure);", b"(pure)"),
        (b"int f(void) ATTR (HOP);", b'(HOP) (JUMP(f)) (asm("jmp " #a))'),
        (b"int f(void) ATTR UNUSED;", b"UNUSED (__attribute__((unused)))"),
        (b"ATTR;", b""),
    ],
)
def test_what_comes_after_a_word(code: bytes, text: bytes) -> None:
    (group,) = Macros([TEXT]).groups(code, [b"ATTR"])
    assert code[group.begin :].startswith(b"ATTR")
    assert group.text == text


def test_parentheses_in_literals_are_none() -> None:
    code = b"(a(')', \")\"), b) c"
    assert closing(code, 0) == len(code) - 2
    assert closing(b"(a", 0) is None
    assert opening(b"f(a(b))", 7) == 1
    assert opening(b"a)", 2) == 0


def test_strings_stay_where_comments_go() -> None:
    assert without_comments(b'/* a */ "/* b */" // c\nd') == b'        "/* b */"     \nd'
