"""What the text has to be: what each condition of ``conditions/text`` keeps and lets pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from conditions_support import FILL, SEND, TOP, buffer_facts, main, only_buffer, placed, placed_in, reason
from ownership_support import source_in

from opi_xform.ownership.conditions.text import (
    configurations,
    declaration,
    own_copies,
    shared_text,
    threads,
    writable,
)
from opi_xform.ownership.model.buffers import Options

LEFT_OUT = "#ifdef NEVER\n    b[3] = 1;\n#endif"


@pytest.mark.parametrize(("top", "why"), [(TOP, ""), ("static _Thread_local double b[1000];", "DECLARATION")])
def test_what_the_declaration_says(top: str, why: str) -> None:
    assert declaration.CONDITION.buffer is not None
    assert reason(declaration.CONDITION.buffer(buffer_facts(main(SEND, top)))) == why


@pytest.mark.parametrize(
    ("more", "strict", "why"), [("", True, ""), (LEFT_OUT, False, ""), (LEFT_OUT, True, "OUTSIDE")]
)
def test_text_that_is_left_out(tmp_path: Path, more: str, strict: bool, why: str) -> None:
    """It names the buffer: an #error sees to it that it stays left out (A6), and --strict does without."""
    found = source_in(tmp_path, main(f"{FILL}\n{more}\n{SEND}"))
    assert configurations.CONDITION.buffer is not None
    assert reason(configurations.CONDITION.buffer(only_buffer(found, Options(strict=strict)))) == why


def test_an_edit_that_cannot_be_made() -> None:
    edits = placed(main(f"{FILL} {SEND}")).edits
    check = writable.CONDITION.written
    assert check is not None
    assert check(Options(), edits) is None
    last = edits[-1]
    assert reason(check(Options(obstacle=lambda edit: "a macro" if edit is last else ""), edits)) == "MACRO"


@pytest.mark.parametrize("stays", [True, False])
def test_an_edit_where_threads_run(stays: bool) -> None:
    """The region is the whole of ``main``, or ends where it begins."""
    at = placed(main(f"{FILL} {SEND}"))
    (function,) = [one for one in at.program.functions.values() if one.name == "main"]
    span = function.span if stays else replace(function.span, end=function.span.begin + 1)
    facts = replace(at.going.facts.of, program=replace(at.program, threads=(span,)))
    threaded = replace(at, going=replace(at.going, facts=replace(at.going.facts, of=facts)))
    vars(threaded.going.facts).update(vars(at.going.facts) | {"of": facts})
    vars(threaded)["edits"] = at.edits
    assert threads.CONDITION.placed is not None
    assert reason(threads.CONDITION.placed(threaded)) == ("ESCAPE" if stays else "")


@pytest.mark.parametrize(("files", "stays"), [(1, False), (2, True)])
def test_a_variable_of_a_header(tmp_path: Path, files: int, stays: bool) -> None:
    """Each file that includes the header has its own ``b``."""
    (tmp_path / "own.h").write_text(TOP)
    include = '#include "own.h"'
    others = (f"{include}\ndouble total(void) {{ return b[1]; }}\n",)[: files - 1]
    found = source_in(tmp_path, main(SEND, include), *others)
    assert own_copies.CONDITION.buffer is not None
    assert reason(own_copies.CONDITION.buffer(only_buffer(found, Options()))) == ("OUTSIDE" if stays else "")


PUT = "extern double b[1000];\nstatic inline void put(int from)\n{\n%s\n}\n"
PARTS = "for (int i = from; i < from + 500; i++) b[i] = i;"


@pytest.mark.parametrize(("files", "why"), [(1, ""), (2, "OUTSIDE")])
def test_an_edit_in_a_function_of_a_header(tmp_path: Path, files: int, why: str) -> None:
    """OPI_Alloc would go into ``put``, before the loop: for all files that include it."""
    (tmp_path / "put.h").write_text(PUT % PARTS)
    include = '#include "put.h"'
    top = f"{include}\ndouble b[1000];\nvoid other(int from);"
    others = (f"{include}\nvoid other(int from) {{ put(from); }}\n", "void other(int from) { }\n")
    at = placed_in(tmp_path, main(f"put(0); other(500); {SEND} put(0); {SEND}", top), others[2 - files])
    assert shared_text.CONDITION.placed is not None
    assert reason(shared_text.CONDITION.placed(at)) == why
