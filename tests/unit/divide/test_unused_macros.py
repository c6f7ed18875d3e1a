"""Bodies of macros that nothing uses."""

from __future__ import annotations

import pytest

from opi_xform.divide.unused_macros import in_unused_macro

FILES = {
    "a.c": b"#define OUT buf\n#define BOTH \\\n  (buf + n)\n#undef OUT\nint f(void) { return buf[0]; }\n",
    "b.h": b"/* nothing */\n",
}


def told(mark: bytes, **more: bytes) -> bool:
    files = {**FILES, **{f"{name}.h": text for name, text in more.items()}}
    at = files["a.c"].index(mark)
    return in_unused_macro("a.c", at + mark.index(b"buf"), tuple(files), files.__getitem__)


def test_a_body_that_nothing_uses_names_nothing() -> None:
    assert told(b"OUT buf")
    assert told(b"(buf + n)")  # on another line of the directive


def test_what_stands_in_the_program_does() -> None:
    assert not told(b"buf[0]")


@pytest.mark.parametrize("text", [b"int g(void) { return OUT[1]; }", b"#define AGAIN OUT", b"#ifdef OUT", b"// OUT"])
def test_a_macro_that_any_text_names_may_be_used(text: bytes) -> None:
    assert not told(b"OUT buf", c=text + b"\n")


def test_a_longer_name_is_another() -> None:
    assert told(b"OUT buf", c=b"int OUTER, LAYOUT;\n")
