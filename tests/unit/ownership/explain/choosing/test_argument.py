"""Where a message lies, by the words of the call."""

import pytest
from core_support import program

from opi_xform.ir import ast
from opi_xform.ir.calls import calls_of
from opi_xform.ownership.explain.choosing.argument import begins_inside, is_text, pointers_themselves, without_casts

TEXT = """
int f(const void *);
static double b[100], *p[4];
int main(int argc, char **argv) {{ double *q = b; return f({argument}); }}
"""


def argument(text: str) -> ast.Expr:
    functions = program(TEXT.format(argument=text)).program.functions
    (call,) = calls_of(functions["main"])
    return call.args[0]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("&b[3]", "at its byte 24"),
        ("b + argc", "at a place that"),
        ("(char *)(q + 2)", "at its byte 16"),
        ("b + sizeof(char)", "at its byte 8"),
    ],
)
def test_places_after_the_first(text: str, where: str) -> None:
    told = begins_inside(argument(text))
    assert told is not None
    assert where in told.message


@pytest.mark.parametrize("text", ["b", "&b[0]", "q", "p[1]"])
def test_places_that_are_the_first(text: str) -> None:
    assert begins_inside(argument(text)) is None


def test_the_address_of_a_pointer() -> None:
    assert pointers_themselves(argument("&p[1]")) is not None
    assert pointers_themselves(argument("p[1]")) is None


def test_texts_and_casts() -> None:
    assert is_text(argument('"abc"'))
    assert not is_text(argument("b"))
    assert not isinstance(without_casts(argument("(void *)(char *)b")), ast.Cast)
