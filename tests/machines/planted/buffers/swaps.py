"""Bugs in what is known of pointers that change places, and of calls that only compute."""

from tests.machines.planted.bug import Bug

_AGREEMENT = "opi_xform.ownership.deciding.agreement"
_EVENTS = "opi_xform.ownership.liveness.buffer_events"
_PARAMETERS = "opi_xform.ownership.spelling.parameters"
_PLACE = "opi_xform.ownership.placement.situation"
_PLAIN = "opi_xform.program.plain"
_SWAPS = "opi_xform.ownership.swaps"

BUGS = (
    Bug(
        "after a swap nobody needs what was before it under the other name",
        _EVENTS,
        "passed = swap.other_live and",
        "passed = False and",
        ("send_swap_read_old", "send_swap_on_some_way", "send_swap_twice"),
        condition="pointers that change places",
    ),
    Bug(
        "a name may bring an address over a swap",
        _SWAPS,
        "return not flow.problems and not any(found.crosses(n, True)",
        "return not flow.problems and not any(found.crosses(n, True) and False",
        ("c_swap_alias_sent",),
        Bug(
            "a swap is no place where buffers change hands",
            _PLACE,
            'acquires: set[tuple[int, str]] = {(s.nodes[1], "after") for s in swaps}',
            "acquires: set[tuple[int, str]] = set()",
            (),
        ),
        condition="pointers that change places",
    ),
    Bug(
        "a parameter stands for what its pointer gets in a swap",
        _SWAPS,
        "return not flow.problems and not any(found.crosses(n, True)",
        "return not flow.problems and not any(found.crosses(n, True) and False",
        ("b_swap_param", "b_swap_param_below"),
        Bug(
            "a parameter that is passed by address follows a swap",
            _PARAMETERS,
            "if node.number in swapped or (member is not None and node.number in member.ends):",
            "if member is not None and node.number in member.ends:",
            (),
        ),
        condition="pointers that change places",
    ),
    Bug(
        "of two pointers that change places one may stay",
        _AGREEMENT,
        "        if alone is not None:",
        "        if False:",
        ("d_swap_partner_stays", "c_swap_stored"),
        condition="pointers that change places",
    ),
    Bug(
        "buffers that change places may be of two sizes",
        _SWAPS,
        "    if sizes[0] != sizes[1] or program.values.symbols.scope(sizes[0]):",
        "    if False:",
        ("e_swap_larger",),
        condition="pointers that change places",
    ),
    Bug(
        "an MPI_Sendrecv_replace is no place where buffers change hands",
        _PLACE,
        "if event.node in replaced:",
        "if event.node in replaced and False:",
        ("replace_name_kept", "replace_returned"),
        condition="old addresses",
    ),
    Bug(
        "the name that helps in a swap is not looked at any more",
        _SWAPS,
        "        return not value_range(self.names, spot, given).crosses(max(nodes), True)",
        "        return bool(given)",
        ("b_swap_name_kept",),
        condition="pointers that change places",
    ),
    Bug(
        "a function that calls itself only computes",
        _PLAIN,
        "                    case _:\n                        return None\n",
        "                    case _:\n                        operands = ()\n",
        ("send_read_recursion", "send_read_recursion_mutual"),
        also=Bug(
            "buffers of functions with several levels may convert",
            "opi_xform.ownership.conditions.memory.levels",
            "if graph.frames[frame].function in graph.cyclic and frame not in owners:",
            "if False:",
            (),
            also=Bug(
                "and be written in them",
                "opi_xform.ownership.conditions.memory.levels",
                "return levels_written(placed.program, placed.going.facts.buffer, placed.edits)",
                "return None",
                (),
            ),
        ),
        condition="calls that are not followed",
    ),
)
