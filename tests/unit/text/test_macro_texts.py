"""What macros write, by their text."""

from opi_xform.text.macros import Macros, without_comments

EACH = [
    ("ATTR", "__attribute__((x))"),
    ("JUMP", 'asm("jmp " #a)'),
    ("HOP", "JUMP(f)"),
    ("HOP", "JUMP(g)"),
    ("NAME", "a ## b"),
]


def test_macros_in_which_a_word_stands() -> None:
    assert Macros(EACH).naming([b"asm"]) == {b"JUMP", b"HOP"}


def test_macros_that_paste() -> None:
    assert Macros(EACH).pasting == {b"NAME"}


def test_what_macros_write_stands_in_parentheses() -> None:
    assert Macros(EACH).written(b"ATTR HOP") == (b'ATTR HOP (JUMP(f)) (JUMP(g)) (asm("jmp " #a)) (__attribute__((x)))')


def test_strings_stay_where_comments_go() -> None:
    assert without_comments(b'/* a */ "/* b */" // c\nd') == b'        "/* b */"     \nd'
