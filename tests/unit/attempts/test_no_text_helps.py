"""When no other text of a program can let more convert, none is tried."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ownership_support import Source, source

from opi_xform.attempts.no_text_helps import no_name_helps, no_text_helps
from opi_xform.ownership.model.plan import Decision, Plan

PLAIN = (
    "static double b[N];\nint main(void)\n{\nMPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);\nreturn b[0] > 1;\n}\n"
)
LOCAL = PLAIN.replace("static double b[N];", "").replace("{\n", "{\ndouble *b = malloc(N * sizeof(double));\n")
MEMBER = PLAIN.replace("double b[N]", "struct { double x[N]; } b").replace("(b,", "(b.x,").replace("b[0]", "b.x[0]")


def kept(found: Source, code: str, decision: str = "keep") -> Plan:
    """The only site of a program."""
    (use,) = found.uses
    return Plan((Decision(use.call.span, "main", "MPI_Send", use.side, "b", "b", decision, code, ""),))


@pytest.mark.parametrize(
    ("text", "code", "helps"),
    [
        (PLAIN, "OPI107", False),  # the form of the call
        (PLAIN, "OPI103", True),  # where the address goes may be a matter of words
        (PLAIN, "OPI101", False),  # bytes of an array
        (LOCAL.replace("b[0] > 1", "0"), "OPI101", True),  # a block that a local pointer names: its life may end there
        (LOCAL, "OPI101", False),  # it does not: the block is read afterwards
        (LOCAL.replace("double *b", "void *b").replace("b[0] > 1", "b == 0"), "OPI101", False),
        (LOCAL.replace("double *b = ", "b = ").replace("int main", "static double *b;\nint main"), "OPI101", False),
        (MEMBER, "OPI101", False),
    ],
)
def test_a_site_that_stays_whatever_the_words_are(text: str, code: str, helps: bool) -> None:
    found = source(text)
    assert no_text_helps(found.program, kept(found, code), False) is not helps


@pytest.mark.parametrize(("place", "helps"), [("b + argc", False), ("b + 8", False), ("b", True), ("&b[0]", True)])
def test_a_message_begins_inside_in_any_words(place: str, helps: bool) -> None:
    """Where another attempt comes behind, that one may give it a buffer of its own."""
    found = source(PLAIN.replace("(b,", f"({place},").replace("void", "int argc, char **argv"))
    assert no_text_helps(found.program, kept(found, "OPI104"), True) is not helps
    assert not no_text_helps(found.program, kept(found, "OPI104"), False)


def test_what_converts_needs_no_help() -> None:
    found = source(PLAIN)
    assert no_text_helps(found.program, kept(found, "OPI103", "convert"), True)


def test_a_call_that_the_graph_does_not_have_stays_in_any_words() -> None:
    """Where another attempt comes behind, that one may write a call through a pointer in another way."""
    found = source(PLAIN)
    (d,) = kept(found, "OPI111").decisions
    elsewhere = Plan((replace(d, span=replace(d.span, begin=d.span.begin + 1)),))
    assert no_text_helps(found.program, elsewhere, True)
    assert not no_text_helps(found.program, elsewhere, False)


def test_a_message_of_which_the_block_is_not_known_stays_in_any_words() -> None:
    """Where another attempt comes behind, that one may tell pointers apart."""
    found = source(
        PLAIN.replace("static double b[N];", "static double u[N], v[N], *b;").replace(
            "{\n", "{\nb = rand() ? u : v;\n", 1
        )
    )
    assert no_text_helps(found.program, kept(found, "OPI402"), True)
    assert not no_text_helps(found.program, kept(found, "OPI402"), False)


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        ("return b[0] > 1;", "return b[0] > 1;", True),
        ("return b[0] > 1;", "return (long)&b[1] % 64;", False),  # a number is made of the address
        ("double b[N];", "struct { double x[9]; } b;", False),
    ],
)
def test_a_struct_and_an_address_that_is_looked_at_stay_in_any_words(old: str, new: str, helps: bool) -> None:
    """Where another attempt comes behind, that one may take the struct apart, or name a pointer in another way."""
    text = PLAIN.replace(old, new)
    found = source(text.replace("(b,", "(&b,").replace("b[0]", "b.x[0]") if "struct" in new else text)
    assert no_text_helps(found.program, kept(found, "OPI105"), True) is not helps
    assert not no_text_helps(found.program, kept(found, "OPI105"), False)


@pytest.mark.parametrize(("given", "helps"), [("look(b);", False), ("", True)])
def test_a_buffer_that_is_given_to_what_is_not_followed_stays_in_any_words(given: str, helps: bool) -> None:
    """Where another attempt comes behind, that one may tell pointers apart."""
    text = PLAIN.replace("static", "void look(double *p);\nstatic", 1).replace("{\n", f"{{\n{given}\n", 1)
    found = source(text)
    assert no_text_helps(found.program, kept(found, "OPI103"), True) is not helps
    assert not no_text_helps(found.program, kept(found, "OPI103"), False)


@pytest.mark.parametrize(("form", "helps"), [("", False), ("OPI103", False), ("OPI111", True)])
def test_bytes_of_a_call_that_is_not_followed_are_what_its_text_lets_suppose(form: str, helps: bool) -> None:
    found = source(PLAIN)
    (d,) = kept(found, "OPI101").decisions
    assert no_text_helps(found.program, Plan((replace(d, form=form),)), False) is not helps


INSIDE = PLAIN.replace("void", "int argc, char **argv")


@pytest.mark.parametrize(
    ("place", "code", "helps"),
    [
        ("&b[argc]", "OPI104", False),
        ("b + argc", "OPI104", False),
        ("&b[8]", "OPI104", True),  # it may be the beginning of a row, or of a member
        ("b", "OPI104", True),
        ("b", "OPI108", False),  # the form of the call
        ("b", "OPI401", False),  # sets of bytes that take too long are the same under any name
        ("b", "OPI101", True),  # what is read may be told apart by names
    ],
)
def test_a_site_that_stays_under_any_name(place: str, code: str, helps: bool) -> None:
    found = source(INSIDE.replace("(b,", f"({place},"))
    assert no_name_helps(found.program, kept(found, code)) is not helps


def test_a_row_of_an_array_may_be_a_matter_of_names() -> None:
    rows = INSIDE.replace("b[N]", "b[9][N]").replace("b[0]", "b[0][0]")
    for place in ("b[argc]", "&b[argc]", "b + argc"):
        found = source(rows.replace("(b,", f"({place},"))
        assert not no_name_helps(found.program, kept(found, "OPI104"))


def test_a_block_whose_life_may_end_with_the_message_is_no_matter_of_names_alone() -> None:
    found = source(LOCAL.replace("b[0] > 1", "0"))
    assert not no_name_helps(found.program, kept(found, "OPI401"))
    assert no_name_helps(found.program, kept(found, "OPI108"))
