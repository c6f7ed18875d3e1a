"""Names that macros paste together (``opi_xform.frontend.macros.pasted``)."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from opi_xform.frontend.macros import deciding
from opi_xform.frontend.macros.pasted import Parts, names, pasted


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("DUMP ( what ) dump ( # what , what ## _buf )", {(None, "_buf")}),
        ("CAT ( a , b ) a ## b", {(None, None)}),
        ("THREE ( a ) x_ ## a ## _n + a ## 1", {("x_", None, "_n"), (None, "1")}),
        ("NO ( a ) ( a )", set()),
        ("WORD out ## put", {("out", "put")}),
        ("SPELLED ( a ) a % : % : t", {(None, "t")}),
        ("EMPTY", set()),
    ],
)
def test_what_a_definition_pastes(definition: str, expected: set[Parts]) -> None:
    assert pasted(definition.split()) == expected


def test_names_are_pasted_of_words_that_are_known() -> None:
    known = {"send", "send_buf", "recv_buf", "x_send_n", "other"}
    assert names((None, "_buf"), known) == {"send_buf"}  # `recv` stands nowhere
    assert names(("x_", None, "_n"), known) == {"x_send_n"}
    assert names((None, None), {"a", "b", "ab", "abc"}) == {"ab"}


def test_what_macros_paste_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text that is left out asks for it, and all names are gone through to find it."""
    asked: list[Parts] = []

    def counted(parts: Parts, known: Collection[str]) -> set[str]:
        asked.append(parts)
        return names(parts, known)

    monkeypatch.setattr(deciding, "names", counted)
    found = deciding.Deciding({"a.c": b"#define A(w) w##_buf + B(w)\n#define B(w) w##_buf\nint send, send_buf;\n"})
    for _ in range(2):
        assert {"send_buf", "B"} <= found.meant({"A"})
    assert asked == [(None, "_buf")]
