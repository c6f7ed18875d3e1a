"""Bugs in what is known of allocations: several that count as one, and functions that do nothing but allocate."""

from tests.machines.planted.bug import NO_POINT_BEHIND, Bug

_ALLOCATIONS = "opi_xform.ownership.allocation.allocations"
_EVALUATE = "opi_xform.values.evaluate"
_OUTPARAMS = "opi_xform.program.out_parameters"
_SUCCESSIVE = "opi_xform.pointsto.successive"
_LAST_NAMES = "opi_xform.pointsto.last_names"

BUGS = (
    Bug(
        "memory from two places is there one at a time",
        _SUCCESSIVE,
        "if step.node in self.nodes and state is not None:",
        "if False:",
        ("regrow_flag",),
        condition="one at a time",
    ),
    Bug(
        "no name of older memory is read after an allocation",
        _LAST_NAMES,
        "if new is None and any(s in live for s in graph.succs[block]):",
        "if False:",
        ("regrow_first_kept", "regrow_left_inside", "regrow_left_static"),
        condition="one at a time",
    ),
    Bug(
        "names of older memory are read by themselves only",
        _LAST_NAMES,
        'not all(kind == "t" or is_plain(frame, str(key)) for kind, frame, key in holders)',
        "False",
        ("regrow_left_address",),
        condition="one at a time",
    ),
    Bug(
        "no object holds the address of older memory",
        _LAST_NAMES,
        "info.type is None or not info.type.is_pointer:\n                    return None",
        "info.type is None or not info.type.is_pointer:\n                    continue",
        ("regrow_left_table",),
        condition="one at a time",
    ),
    Bug(
        "freed memory is the one that is there now",
        _EVALUATE,
        "if len(bases) == 2 and all(len(self.objects.table[o].nodes) > 1 for o in bases):",
        "if False:",
        ("regrow_moved",),
        condition="one at a time",
    ),
    Bug(
        "nobody else has the address of a pointer that a function sets",
        _OUTPARAMS,
        "if taken[key] == n and key in known",
        "if key in known",
        ("out_parameter_known",),
        condition="set by a function",
    ),
    Bug(
        "a function that sets a pointer does not name it",
        _OUTPARAMS,
        "return None if argument.key in found.names else (found, argument.key)",
        "return found, argument.key",
        ("out_parameter_named",),
        condition="set by a function",
    ),
    Bug(
        "a function that allocates changes nothing but its own variables",
        "opi_xform.ownership.allocation.allocating",
        "case ins.Load() | ins.Store() if _own_variable(program, n, frame):",
        "case ins.Load() | ins.Store():",
        ("memalign_counted_free",),
        condition="allocation and free",
    ),
    Bug(
        "what a wrapper asks for means the same at its call",
        "opi_xform.ownership.allocation.sizes",
        "if allocation.wrapper >= 0 and not _means_the_same(program, flow, allocation, texts):",
        "if False:",
        ("malloc_hidden_type", "malloc_hidden_enum", "malloc_macro_redefined", "malloc_hidden_paste"),
        condition="allocation and free",
    ),
    Bug(
        "macros mean what they are written as",
        "opi_xform.ownership.allocation.sizes",
        "    found = expanded(program, found)\n",
        "",
        ("malloc_hidden_by_macro",),
        condition="allocation and free",
    ),
    Bug(
        "a pointer has its old value where its new size is evaluated",
        "opi_xform.ownership.placement.allocation_edits",
        "if any(self.reads_buffer(a) for a in allocations):",
        "if False:",
        ("malloc_reads_itself",),
        condition="allocation and free",
    ),
    Bug(
        "a wrapper returns NULL where there is no memory only",
        _ALLOCATIONS,
        "if pure and (not may_be_null(program, m) or null_without_memory(program, flow, frame, n)):",
        "if pure:",
        ("memalign_too_large",),
        condition="allocation and free",
    ),
    Bug(
        "of what a pointer was set to on several paths, the first counts",
        "opi_xform.values.interp",
        "return there[0] if there and there.count(there[0]) == len(there) else None",
        "return there[0] if there else None",
        ("unset_either",),
        NO_POINT_BEHIND,
        condition="one at a time",
    ),
)
