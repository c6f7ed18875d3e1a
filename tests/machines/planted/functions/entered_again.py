"""Functions that are entered from inside themselves."""

from tests.machines.planted.bug import Bug

BUGS = (
    Bug(
        "constants of the first call hold at every level",
        "opi_xform.graph.copies",
        "if callee in self.cycles.cyclic:  # each level is called with others",
        "if False:",
        ("levels_constant",),
        condition="calls that are not followed",
    ),
    Bug(
        "a deeper level changes nothing",
        "opi_xform.calls.calls",
        "return found if again < 0 else found & self.inside(again)",
        "return found if again < 0 else frozenset()",
        ("levels_spare",),
        condition="calls that are not followed",
    ),
    Bug(
        "what holds at the first level holds at all of them",
        "opi_xform.ownership.conditions.memory.levels",
        "if graph.frames[frame].function in graph.cyclic and frame not in owners:",
        "if False:",
        ("activation_by_pointer", "activation_pending"),
        also=Bug(
            "edits may lie in functions with several levels",
            "opi_xform.ownership.conditions.memory.levels",
            "return levels_written(placed.program, placed.going.facts.buffer, placed.edits)",
            "return None",
            (),
        ),
        condition="calls that are not followed",
    ),
    Bug(
        "a call that is lost reaches no globals",
        "opi_xform.calls.calls",
        "out |= self.objects.named if again < 0 else self.objects.globals",
        "out |= set() if again < 0 else self.objects.globals",
        ("lost_global", "entries_read"),
        also=Bug(
            "and gives none of them away",
            "opi_xform.pointsto.constraints",
            "for o in sorted(self.objects.named):",
            "for o in ():",
            (),
        ),
        condition="calls that are not followed",
    ),
)
