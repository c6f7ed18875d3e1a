"""Mutation tests: one violating access put into a case that converts, and the site must stay.

Of every convertible case: a read after the send, the address compared before and after the call, a pointer taken before
a receive and read after it, a receive of one element less than is unpacked, a read of the first zeros before the
receive, and a hole in the packing where a line is marked for it. ``OPI_ALL_CASES=1`` runs all of them, otherwise about
one in twelve.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from case_tools import Case, Wish, analyse, load_cases, sample

from opi_xform.attempts.computed_starts import ALONE

EVERY = 1 if os.environ.get("OPI_ALL_CASES") == "1" else 12
_CALL = re.compile(r"^(\s*)(MPI_(?:Send|Isend|Recv|Irecv|Sendrecv|Sendrecv_replace)\(.*\);) (//~ .*)$")
_HOLE = re.compile(r"^(.*) //~ hole: (.*) => (.*)$")
BLOCKING = ("MPI_Recv(", "MPI_Sendrecv(", "MPI_Sendrecv_replace(")
INDETERMINATE = (
    "local_array_",
    "const_",
    "malloc_",
    "matrix_param_5",
    "free_wrapper_",
    "flag_1",
    "flag_4",
    "flag_6",
    "rows_parameter_",
    "member_",
    "table_",
    "links_",
    "alloc_",
    "handle_",
    "twins_",
    "second_name_",
    "swap_",
    "recursion_",
    "parts_",
    "disjoint_",
    "memalign_",
    "busy_",
    "activation_",
    "aligned_far_",
    "out_parameter_",
    "addressed_",
    "local_first_",
    "size_bound_",
    "vla_",
    "buffer_array_4",
    "sendrecv_6",
    "spelled_6",
    "spelled_12",
    "spelled_21",
    "copied_",
    "first_row_2",
    "first_row_3",
    "sizeof_buf_6",
    "touched_",
    "address_of_",
    "lifted_",
    "everyday_6",
    "out_member_",
    "out_rows_",
    "told_",
    "written_out_",
    "zeros_",
    "counted_twice_",
    "left_out_17",
    "open_line_",
    "null_back_",
    "null_turns_",
    "row_block_",
    "null_told_",
)
"""Cases whose buffers start with no defined value, with one that the program writes, or with zeros that OPI_Calloc
brings: reading them early violates nothing that could be kept."""
WITHOUT_HOLES = ("busy_15", "malloc_wrapper_3", "second_name_14", "written_out_5")
"""Cases whose buffers are new for each message: the byte that is not packed has no value, or is calloc's zero, which
OPI_Calloc brings."""
HELD = {("both_ways_1", 28): 25, ("both_ways_2", 28): 24, ("both_ways_4", 26): 23, ("block_end_4", 16): 15}
"""Receives (case, line) before which the buffer always holds a message or what is sent.

Reading it there is right after the receive of that message converts, and wrong after the send in this line.
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A case with one line replaced by ``text``; ``stay``: file, line and side of the sites that must stay."""

    case: Case
    kind: str
    file: str
    line: int
    text: str
    stay: tuple[tuple[str, int, str], ...]

    @property
    def name(self) -> str:
        return f"{self.case.name}-{self.kind}-{self.file}-{self.line}"

    def texts(self) -> dict[str, str]:
        lines = self.case.texts[self.file].splitlines()
        lines[self.line - 1] = self.text
        return {**self.case.texts, self.file: "\n".join(lines) + "\n"}


def arguments_of(call: str) -> list[str]:
    """The arguments of a call as written."""
    inside, depth, parts = call[call.index("(") + 1 : call.rindex(")")], 0, [""]
    for char in inside:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def indeterminate(case: Case, buffer: str) -> bool:
    """The buffer starts with no defined value: one of those cases, or what malloc returned right where it is made.

    Or it starts with the zeros of calloc, which OPI_Calloc brings in its place: reading them early spoils nothing.
    """
    made = re.compile(rf"(?<![\w.>]){re.escape(buffer)} = (?:\([^()]*\) ?)?[mc]alloc\(")
    return case.name.startswith(INDETERMINATE) or any(made.search(text) for text in case.texts.values())


def one_less(call: str) -> str:
    """The call with its receive count reduced by one."""
    name, parts = call[: call.index("(")], arguments_of(call)
    where = 6 if name == "MPI_Sendrecv" else 1
    parts[where] = f"({parts[where]}) - 1"
    return f"{name}({', '.join(parts)});"


def call_mutants(case: Case, wish: Wish, number: int, line: str) -> Iterator[Mutant]:
    """The mutants made at the call itself, which stays one statement on one line."""
    found = _CALL.match(line)
    if not found:
        return
    space, call, comment = found.groups()
    side = "send" if wish.kind == "give" else "recv"
    given = arguments_of(call)[5 if side == "recv" and call.startswith("MPI_Sendrecv(") else 0]
    byte = f"((const unsigned char *)({given}))[3]"
    inside = f"(const char *)({wish.buffer}) + 1"
    compare = f"const void *mutant = {inside}; {call} if (mutant == (const void *)({inside})) putchar('=');"
    statements = {"compare": f"int putchar(int); {compare}"}
    replaces = call.startswith("MPI_Sendrecv_replace(")  # what is read after it has come with it, before it, is sent
    if side == "send" and not replaces:
        statements["read-after-send"] = f"int putchar(int); {call} putchar({byte});"
    if side == "recv":
        if call.startswith(BLOCKING):
            alias = f"const unsigned char *mutant = (const unsigned char *)({given}) + 1;"
            statements["alias"] = f"int putchar(int); {alias} {call} putchar(mutant[2]);"
        if wish.stale_count:
            statements["stale-count"] = one_less(call)
        if not replaces and not indeterminate(case, wish.buffer):
            statements["read-before"] = f"int putchar(int); putchar({byte}); {call}"
    for kind, statement in statements.items():
        text = f"{space}{{ {statement} }} {comment}"
        stay = wish.file, number, side
        if kind == "read-before" and (case.name, number) in HELD:
            stay = wish.file, HELD[case.name, number], "send"
        yield Mutant(case, f"{kind}-{side}", wish.file, number, text, (stay,))


def hole_mutants(case: Case) -> Iterator[Mutant]:
    """The mutants that leave a hole in the packing: every send of the case then sends a byte that was not packed."""
    if case.name in WITHOUT_HOLES:
        return
    sends = tuple((wish.file, wish.line, "send") for wish in case.wishes if wish.kind == "give")
    for file, text in case.texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            if found := _HOLE.match(line):
                assert found[2] in found[1], f"{case.name}: {file}:{number}"
                yield Mutant(case, "hole", file, number, found[1].replace(found[2], found[3], 1), sends)


def all_mutants() -> list[Mutant]:
    """Of every case, in the order of the cases."""
    found: list[Mutant] = []
    for case in load_cases("convert"):
        for wish in case.wishes:
            line = case.texts[wish.file].splitlines()[wish.line - 1]
            found.extend(call_mutants(case, wish, wish.line, line))
        found.extend(hole_mutants(case))
    return found


MUTANTS = all_mutants()


# one side, or calls that are part of another statement
ONE_SIDED = {
    f"{name}_{k}"
    for name, numbers in (
        ("branches", ("append",)),
        ("activation", "2"),
        ("anew", "12345678"),
        ("aside", "123456"),
        ("stored_float", "1234567"),
        ("value_sizes", "123456"),
        ("free_wrapper", ("13",)),
        ("first_receive", (*"12356789", "11")),
        ("everyday", ("11", "32")),
        ("busy", ("3", "11")),
        ("grow", "12346"),
        ("lazy", "1234678"),
        ("left", "123456"),
        ("calloced", "1234578"),
        ("come", "2346"),
        ("counted_read", "123456"),
        ("root_alloc", "123456"),
        ("left_out", ("14",)),
        ("memalign", "123456789"),
        ("member", "68"),
        ("out_parameter", "12356"),
        ("null_told", ("10",)),
        ("omp", ("11", "12")),
        ("partners", (*"123456789", "10", "11")),
        ("parts", ("15",)),
        ("parts_named", ("22",)),
        ("starts", ("23", "25", "30", "32", "34")),
        ("helper_param", "9"),
        ("renewed", "4"),
        ("regrow", "123456"),
        ("last_send", (*"12345678", "10", "11", "15")),
        ("partly", "123456"),
        ("reduced", "123456"),
        ("send_recv", "6"),
        ("size_bound", "789"),
        ("struct_given", "123456"),
        ("summed", "7"),
        ("product", "9"),
        ("spelled", ("3", "7", "8", "24", "42", "43", "44", "45")),
        ("zeros", ("14", "15", "16")),
        ("test_loop", "7"),
        ("unset", "12345"),
        ("vla", ("8", "16", "17", "18")),
        ("waitall", "8"),
        ("written_out", "123456"),
    )
    for k in numbers
}


def test_every_case_has_mutants_of_both_sides() -> None:
    cases = {case.name for case in load_cases("convert")}
    one_sided = set()
    for side in ("send", "recv"):
        one_sided |= cases - {mutant.case.name for mutant in MUTANTS if any(where[2] == side for where in mutant.stay)}
    assert one_sided == ONE_SIDED
    assert len(MUTANTS) > 5 * len(cases)


@pytest.mark.parametrize("mutant", sample(MUTANTS, EVERY), ids=lambda mutant: mutant.name)
def test_mutant_stays(mutant: Mutant, tmp_path: Path) -> None:
    mutant.case.write(tmp_path, mutant.texts())
    sites = analyse(mutant.case, tmp_path)
    for where in mutant.stay:
        found = [site for site in sites if (site.file, site.line, site.side) == where]
        assert found, f"no site is reported at {where}"
        for site in found:
            # A message with a block of its own leaves the array where it is: addresses there compare as before.
            apart = mutant.kind.startswith("compare") and ALONE in site.why
            apart = apart or (mutant.kind.startswith("read-before") and site.decision == "replace")  # it is still there
            assert site.decision == "keep" or apart, f"{where}: converted\n{mutant.texts()[mutant.file]}"
