"""What a buffer holds: what each condition of ``conditions/contents`` keeps and lets pass."""

from __future__ import annotations

import pytest
from conditions_support import FILL, RECV, SEND, buffer_facts, going, main, reason, site

from opi_xform.codes import Reason
from opi_xform.ownership.conditions.contents import (
    budget,
    capacity,
    ends,
    first_contents,
    packed,
    read_after_receive,
    real_source,
)
from opi_xform.ownership.deciding.condition import Condition

TOP = "static double b[2000], s;"
MARKED = "static int b[2000] = {1}, s;"
PLAIN = "static int b[2000], s;"
NUMBERS = "MPI_Recv(b, 1000, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); s = b[3];"
FROM_NOBODY = RECV.replace(", 1, 7", ", argc > 1 ? 1 : -1, 7")


@pytest.mark.parametrize(
    ("condition", "stays", "passes", "why"),
    [
        (packed.CONDITION, main(f"b[0] = 1; {SEND} {SEND}", TOP), main(f"{FILL} {SEND}", TOP), Reason.OLD_BYTES),
        (
            read_after_receive.CONDITION,
            main(f"b[1500] = 7; {RECV} s = b[1500]; return s > 1;", TOP),
            main(f"b[1500] = 7; {RECV} s = b[500]; return s > 1;", TOP),
            Reason.READ_LATER,
        ),
        (
            real_source.CONDITION,  # what is read was there before, or is written after the receive
            main(f"{FILL} {FROM_NOBODY} s = b[3]; return s > 1;", TOP),
            main(f"{FROM_NOBODY} {FILL} s = b[3]; return s > 1;", TOP),
            Reason.NULL_SOURCE,
        ),
        (
            first_contents.CONDITION,  # the zeros that static memory begins with
            main(f"s = b[3]; {FILL} {SEND} return s > 1;", TOP),
            main(f"{FILL} {SEND} return s > 1;", TOP),
            Reason.FIRST_CONTENTS,
        ),
        (ends.CONDITION, main(NUMBERS, MARKED), main(NUMBERS, PLAIN), Reason.FIRST_CONTENTS),
    ],
)
def test_a_site(condition: Condition, stays: str, passes: str, why: Reason) -> None:
    assert condition.site is not None
    assert reason(condition.site(site(stays))) == why.name
    assert condition.site(site(passes)) is None


@pytest.mark.parametrize(("last", "stays"), [(999, False), (1000, True)])
def test_room_behind_a_message(last: int, stays: bool) -> None:
    """A taken buffer has 1,000 elements: the program writes the last of them, or one more."""
    at = going(buffer_facts(main(f"{RECV} b[{last}] = 1; s = b[{last}]; return s > 1;", TOP)))
    assert capacity.CONDITION.going is not None
    found = capacity.CONDITION.going(at)
    assert [reason(one) for one in found.values()] == (["CAPACITY"] if stays else [])


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) b[i * n + j] = 1;", "products of numbers"),
        ("for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) b[i * 4 + j] = 1;", "2 loops, one in the other"),
        ("b[2] = 1;", "its place"),
    ],
)
def test_what_is_too_complicated_is_named(loop: str, why: str) -> None:
    facts = buffer_facts(main(f"int n = argc;\n{loop}\n{SEND}", TOP))
    assert budget.CONDITION.buffer is not None
    assert budget.CONDITION.buffer(facts) is None
    for judge in facts.liveness.judges.values():
        judge.exceeded = True
    found = budget.CONDITION.buffer(facts)
    assert found is not None
    if loop.startswith("for"):
        assert "which bytes of `b` line" in found.message
        assert why in found.message
    else:
        assert "is too complicated to compute together; it counts as read everywhere" in found.message
        assert found.notes


HELPERS = """static double b[2000], s;
static void fill(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = 1;
}
static void plain(void)
{
    for (int i = 0; i < 1000; i++)
        b[i] = 2;
}
static void give(int n)
{
    PACK;
    MPI_Send(b, 1000, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
}
"""


@pytest.mark.parametrize(
    ("pack", "words"), [("fill(n)", "of `b` line 8"), ("plain()", "of `b`, in which this message")]
)
def test_what_is_too_complicated_beside_the_site(pack: str, words: str) -> None:
    """What the function of the site calls is named, else it is said how the site comes to it."""
    facts = buffer_facts(main("fill(argc);\ns = b[3];\ngive(argc);", HELPERS.replace("PACK", pack)))
    facts.liveness.judges[facts.found.objects[0]].exceeded = True
    found = budget.at_site(facts, facts.found.uses[0])
    assert found is not None
    assert words in found.message
    assert found.message.endswith("; it counts as written nowhere")
