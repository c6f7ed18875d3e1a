"""Arrays of numbers of which each element is a sum of elements of others: found, or not."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.calls.of_graph import calls_of
from opi_xform.values.arithmetic.derived import derived

SET = "lo[g] = argc; hi[g] = lo[g] + g;"


def sums(
    body: str, loop: str = "for (int g = 0; g < 4; g++)", after: str = ""
) -> dict[str, tuple[int, dict[str, int]]]:
    """By array: the constant, and how often each other array's element is in its own."""
    program = source(
        "void other(long *); extern long kept[4];\n"
        f"int main(int argc, char **argv)\n{{\nlong lo[4], hi[4], w[4], d[4]; int v[4];\n{loop} {{ {body} }}\n{after}\n"
        "return w[argc] + hi[argc] + d[argc] + v[argc];\n}\n"
    ).program
    objects = program.values.objects
    calls = calls_of(program.graph, objects, program.points_to, program.effects)
    calls.foreign = program.values.foreign
    names = {info.number: info.name for info in objects.table}
    found = derived(calls, program.nest, program.variables)
    return {names[o]: (one.constant, {names[a]: n for a, n in one.terms}) for o, one in found.items()}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{SET} w[g] = hi[g] - lo[g] + 1;", (1, {"lo": -1, "hi": 1})),
        (f"{SET} w[g] = 7; w[g]--; w[g] = 1 + hi[g] - (lo[g] - 2);", (3, {"lo": -1, "hi": 1})),
        (f"{SET} w[g] = hi[g];", (0, {"hi": 1})),
        (f"if (g == argc) continue; {SET} w[g] = hi[g] - lo[g];", (0, {"lo": -1, "hi": 1})),
    ],
)
def test_what_each_element_is(body: str, expected: tuple[int, dict[str, int]]) -> None:
    assert sums(body)["w"] == expected


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (f"{SET} w[g] = hi[g] - lo[g]; lo[g]++;", ""),
        (f"{SET} w[g] = hi[g] - lo[g];", "lo[1] = 3;"),
        (f"{SET} w[g] = hi[g] - lo[g];", "w[1] = 3;"),
        (f"{SET} w[g] = hi[g] - lo[g];", "other(lo);"),
        (f"{SET} w[g] = hi[g] - lo[g] * 2;", ""),
        (f"{SET} w[g] = hi[g] - lo[g] + argc;", ""),
        (f"{SET} w[g] = 1; if (argc > g) w[g] = hi[g] - lo[g];", ""),
        (f"{SET} w[3 - g] = hi[g] - lo[g];", ""),
        (f"{SET} w[g] = hi[g] - lo[3 - g];", ""),
        (f"{SET} w[g] = hi[g] - kept[g];", ""),
        (f"{SET} w[g] = (int)(hi[g] - lo[g]);", ""),
        (f"{SET} v[g] = hi[g] - lo[g];", ""),
        (f"{SET} w[g] = hi[g] - w[g];", ""),
        (f"{SET} w[g] = hi[g] - lo[g]; g++; lo[g] = 1; g--;", ""),
    ],
)
def test_what_may_be_something_else_later(body: str, after: str) -> None:
    assert not {"w", "v"} & sums(body, after=after).keys()


@pytest.mark.parametrize(
    "loop",
    [
        "for (int g = 0; g < 4; g += argc)",
        "for (int g = 0; g < 40; g++, g %= 4)",
        "for (unsigned g = 0; g < 4; g++)",
        "for (int g = 0; g < 4; g++) for (int n = 0; n < argc; n++)",
        "for (int n = 0; n < argc; n++) for (int g = 0; g < 4; g++)",
    ],
)
def test_loops_that_may_come_to_an_element_again(loop: str) -> None:
    assert "w" not in sums(f"{SET} w[g] = hi[g] - lo[g];", loop=loop)


def test_an_array_may_be_made_of_one_that_is_made_of_others() -> None:
    found = sums(f"{SET} d[g] = hi[g] - lo[g]; w[g] = d[g] + 1;")
    assert found["w"] == (1, {"d": 1})
    assert found["d"] == (0, {"lo": -1, "hi": 1})
