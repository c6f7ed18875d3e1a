"""Memory that may be held where its pointer goes out of scope: it is said where nothing frees it."""

import pytest
from ownership_support import source

from opi_xform.ownership.placement.place import left_over

BODY = """int main(int argc, char **argv)
{
    double *in = malloc(argc * 8); // made
    MPI_Recv(in, argc, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    %s
    return in[0] > argc;
}
"""


@pytest.mark.parametrize(("freed", "told"), [("", True), ("if (argc > 9) { free(in); return 1; }", False)])
def test_memory_that_may_be_left_where_its_pointer_goes(freed: str, told: bool) -> None:
    found = source(BODY % freed)
    refusal = left_over(found.program, found.buffers["in"], found.program.variables[found.key("in")]).refusal
    message = "`in` may be held where it goes out of scope in `main`"
    more = ", and nothing frees it; it needs a `free(in)` where it is not read any more"
    assert refusal.message == message + (more if told else "")
    assert refusal.notes[0][0].line == found.line("// made")
