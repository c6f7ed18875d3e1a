"""Planted bugs of live regions that are made simpler, and of what was found where they no longer take too long."""

from tests.machines.planted.bug import Bug

_BEARING = "opi_xform.regions.bearing"
_LIVE = "opi_xform.regions.live"

BUGS = (
    Bug(
        "nothing is live where a region has too many cases",
        _BEARING,
        "s = self.regions.drop(s, unwanted).coalesce()",
        "s = self.regions.none",
        ("branches_sizes",),
        condition="packed",
    ),
    Bug(
        "what a loop reads first is nothing",
        _LIVE,
        "if read is None or read.is_empty():",
        "if True:",
        ("branches_guard",),
        condition="packed",
    ),
    Bug(
        "a function is libf2c's by its name alone",
        "opi_xform.analysis.plans",
        "if not whole.f2c:",
        "if False:",
        ("odd_fortran_name",),
        condition="library functions",
    ),
    Bug(
        "where all regions take too long, what lies blocks after a message is left aside, too",
        "opi_xform.ownership.liveness.liveness",
        "        work = sorted(seen)\n",
        "        work = list[int]()\n",
        ("budget_before_beside",),
        condition="budget",
    ),
)
