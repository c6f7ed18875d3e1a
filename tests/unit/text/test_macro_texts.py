"""What macros write, by their text."""

from opi_xform.text.macros import Macros, without_comments

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


def test_macros_in_which_a_word_stands() -> None:
    assert Macros([TEXT]).naming([b"asm"]) == {b"JUMP", b"HOP"}


def test_what_macros_write_stands_in_parentheses() -> None:
    assert Macros([TEXT]).written(b"ATTR HOP") == b'ATTR HOP (JUMP(f)) (asm("jmp " #a)) (__attribute__((x)))'


def test_strings_stay_where_comments_go() -> None:
    assert without_comments(b'/* a */ "/* b */" // c\nd') == b'        "/* b */"     \nd'
