"""Cases that convert, in other words: the rewritings do what they say, and decisions stay (`make spell`)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_tools import sample

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.tools import captured
from opi_xform.toml import load_toml

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.spell.judge import CHECKS, Judge, Spelled, Step, cases, decided, marked, spelled, write
from tests.machines.spell.source import MARK, Edit, Source, apart, edited
from tests.machines.spell.table import Rewriting, rewritings

EXAMPLES = Path(__file__).resolve().parents[1] / "machines" / "spell" / "examples.toml"
INCLUDES = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
KINDS = {
    "subscripts", "operands", "casts", "conditions", "loops", "temporaries", "bounds", "calls", "helpers", "memory",
    "declarations", "typedefs", "flow", "output", "blocks", "files",
}  # fmt: skip


@pytest.fixture(scope="module")
def mpi() -> Mpi:
    try:
        return find_mpi()
    except LaunchError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def examples() -> dict[str, dict[str, str]]:
    return load_toml(EXAMPLES)


def test_there_are_enough_rewritings() -> None:
    assert len(rewritings()) >= 40
    assert {rule.kind for rule in rewritings()} == KINDS
    assert all(rule.says.endswith(".") for rule in rewritings())


@pytest.mark.parametrize("rule", rewritings(), ids=lambda rule: rule.name)
def test_a_rewriting_does_what_it_says(rule: Rewriting, examples: dict[str, dict[str, str]]) -> None:
    example = examples[rule.name]
    source = Source({"x.c": INCLUDES + example["before"]})
    after = edited(source.texts, [next(rule.changes(source))])
    shown = [("" if name == "x.c" else f"// {name}\n") + text.removeprefix(INCLUDES) for name, text in after.items()]
    assert "\n".join(shown) == example["after"]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("result_checked", "MPI_Send(a, 8, MPI_DOUBLE, n, 7, MPI_COMM_WORLD);"),
        ("result_returned", "MPI_Send(a, 8, MPI_DOUBLE, n, 7, MPI_COMM_WORLD);"),
        ("guarded_by_proc_null", "MPI_Send(a, 8, MPI_DOUBLE, n, 7, MPI_COMM_WORLD);"),
        ("free_guarded", "free(p);"),
        ("malloc_aligned", "p = malloc(n);"),
    ],
)
def test_an_if_keeps_its_else(name: str, call: str) -> None:
    """What becomes an ``if`` and is the whole body of another one does not take its ``else``."""
    function = f"void f(double *p, int n)\n{{\n    if (n > 1)\n        {call}\n    else\n        a[0] = 1.0;\n}}\n"
    source = Source({"x.c": f"{INCLUDES}\nstatic double a[8];\n\n{function}"})
    rule = next(rule for rule in rewritings() if rule.name == name)
    after = edited(source.texts, [next(rule.changes(source))])["x.c"]
    assert re.search(r"    if \(n > 1\)\n        \{ .*if .* \}\n    else\n", after)


def test_a_function_stays_in_the_file_of_its_macros() -> None:
    """Those that are defined after the head of the file are not in the other one."""
    rule = next(rule for rule in rewritings() if rule.name == "function_in_other_file")
    functions = (
        "void f(int *n)\n{{\n    *n = 1;\n}}\n{macro}void g(int *n)\n{{\n    *n = {one};\n}}\nint main(void)\n{{\n}}\n"
    )
    for macro, moved in (("#define ONE 1\n", 1), ("", 2)):
        text = INCLUDES + functions.format(macro=macro, one="ONE" if macro else "1")
        assert len(list(rule.changes(Source({"x.c": text})))) == moved


def test_a_function_that_is_declared_static_stays_in_its_file() -> None:
    rule = next(rule for rule in rewritings() if rule.name == "function_in_other_file")
    for declared, moved in (("static void f(int *n);\n", 0), ("", 1)):
        text = f"{INCLUDES}{declared}int main(void)\n{{\n}}\n\nstatic void f(int *n)\n{{\n    *n = 1;\n}}\n"
        assert len(list(rule.changes(Source({"x.c": text})))) == moved


def test_the_examples_compile(mpi: Mpi, examples: dict[str, dict[str, str]], tmp_path: Path) -> None:
    """Before and after, all together; mpi.h is compiled beforehand."""
    assert set(examples) == {rule.name for rule in rewritings()}
    for name, example in examples.items():
        for when in ("before", "after"):
            write(_files(example[when]), tmp_path / name / when)
    header = tmp_path / "first.h"
    header.write_text("#include <mpi.h>\n", encoding="ascii")
    flags = [flag for flag in CHECKS if flag != "-fsyntax-only"]
    command = [str(mpi.mpicc), *flags, "-c", "-x", "c-header", str(header), "-o", f"{header}.gch"]
    assert captured(command, mpi, timeout_s=60).returncode == 0
    files = sorted(map(str, tmp_path.glob("*/*/*.c")))
    done = captured([str(mpi.mpicc), *CHECKS, "-include", str(header), *files], mpi, timeout_s=120)
    assert done.returncode == 0, done.stderr


def _files(shown: str) -> dict[str, str]:
    """The files of an example: the first, and those that are shown behind their names."""
    first, *others = re.split(r"^// (\w+\.[ch])\n", shown, flags=re.MULTILINE)
    texts = {"x.c": first, **dict(zip(others[::2], others[1::2], strict=True))}
    return {name: text if "<mpi.h>" in text else INCLUDES + text for name, text in texts.items()}


def test_a_seed_names_one_program() -> None:
    case = cases()[0]
    assert spelled(case, 7) == spelled(case, 7)
    assert spelled(case, 7) != spelled(case, 8)
    assert 1 <= len(spelled(case, 7).steps) <= 4


def test_every_call_of_a_case_is_marked_once() -> None:
    case = next(case for case in cases() if case.name == "in_loop_1")
    text = marked(case)["in_loop_1.c"]
    assert MARK.sub("", text) == case.texts["in_loop_1.c"]
    assert [int(n) for n in MARK.findall(text)] == list(
        range(text.count("MPI_Init(") + text.count("MPI_Comm_rank(") + 3)
    )


def test_edits_that_touch_are_told_apart() -> None:
    first = Edit("x.c", 3, 6, "a")
    assert not apart([first], [Edit("x.c", 5, 8, "b")])
    assert not apart([first], [first])
    assert apart([first], [Edit("x.c", 6, 8, "b")])
    assert apart([first], [Edit("y.c", 5, 8, "b")])


def some() -> Iterator[Spelled]:
    """A few programs of seed 1."""
    for case in sample(cases(), 200):
        yield spelled(case, 1)


@pytest.mark.mpi
def test_what_is_printed_stays(mpi: Mpi, tmp_path: Path) -> None:
    judge = Judge(tmp_path, mpi)
    for number, program in enumerate(some()):
        outcome = judge.outcome(program, number % 3 == 0)
        assert outcome.verdict in ("same", "lost"), f"{outcome.name} {outcome.applied}: {outcome.problem}"


@pytest.mark.mpi
def test_what_is_lost_is_counted(mpi: Mpi, tmp_path: Path) -> None:
    """A step that takes the buffer's address away loses the site, and is blamed for it; so is one that prints more."""
    case = next(case for case in cases() if case.name == "in_loop_1")
    texts = marked(case)
    name, text = next(iter(texts.items()))
    harmless = {name: text.replace("int rank;", "int rank, unused = 0;")}
    harmful = {name: harmless[name].replace("MPI_Finalize", 'printf("%g\\n", sbuf[3]);\n    MPI_Finalize')}
    steps = (Step("harmless", 1, harmless), Step("harmful", 1, harmful))
    outcome = Judge(tmp_path, mpi).outcome(Spelled(1, case, steps), False)
    assert outcome.verdict == "lost"
    assert [rule for _, rule, _ in outcome.lost] == ["harmful"]
    assert Judge(tmp_path, mpi).outcome(Spelled(1, case, steps), True).verdict == "invalid"


def test_sites_are_known_again_by_their_marks(tmp_path: Path) -> None:
    case = next(case for case in cases() if case.name == "in_loop_1")
    found, problem = decided(case, marked(case), tmp_path)
    assert not problem
    assert sorted(side for _, side in found) == ["recv", "send"]
    assert set(found.values()) == {"convert"}
