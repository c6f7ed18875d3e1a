"""Bugs in what is known of memory: how it was allocated, how far it is aligned, whether there was any."""

from tests.planted.bug import Bug

_ALLOCATORS = "opi_xform.ownership.conditions.memory.allocators"
_ENDINGS = "opi_xform.ownership.model.endings"
_NULL_TESTS = "opi_xform.ownership.allocation.null_tests"
_SOURCE = "opi_xform.ownership.spelling.declarations"

BUGS = (
    Bug(
        "what others write into a copy of a struct",
        "opi_xform.values.evaluate",
        "if base in self.objects.foreign or o in self.objects.foreign:",
        "if False:",
        ("struct_copy_received",),
        condition="changed by others",
    ),
    Bug(
        "no promise of an allocator is more than malloc's",
        _ALLOCATORS,
        "if length is None:",
        "if True:",
        ("far_assumed", "far_directive", "far_type", "far_written", "far_invalid", "g_aligned_direct"),
        condition="allocation and free",
    ),
    Bug(
        "an alignment that is not known is small",
        _ALLOCATORS,
        "if asked is not None and asked <= ALIGNMENT:",
        "if asked is None or asked <= ALIGNMENT:",
        ("far_directive",),
        condition="allocation and free",
    ),
    Bug(
        "attributes are where the text shows them",
        _SOURCE,
        "if var.attributes:",
        "if False:",
        ("g_aligned_macro", "g_aligned_alignas"),
        condition="allocation and free",
    ),
    Bug(
        "types are aligned as buffers are",
        _SOURCE,
        "if self.array and var.alignment > ALIGNMENT:",
        "if False:",
        ("g_aligned_type",),
        condition="allocation and free",
    ),
    Bug(
        "malloc returns memory",
        _NULL_TESTS,
        "if not _proved(program, buffer, n, addressed, unproved, n in unmoved):",
        "if False:",
        ("c_null_code", "c_null_guarded", "c_null_two", "c_null_finalize"),
        condition="comparison with NULL",
    ),
    Bug(
        "an error code ends the program",
        _ENDINGS,
        "return () if code and graph.frames[frame].function == MAIN else None",
        "return ()",
        ("c_null_code", "c_null_flag", "c_null_guarded"),
        Bug(
            "an end in good order is one for want of memory",
            _ENDINGS,
            "if name in _ORDERLY or name in ELSEWHERE:",
            "if name in ELSEWHERE:",
            (),
        ),
        condition="comparison with NULL",
    ),
    Bug(
        "a program that ends in good order has no answer",
        _ENDINGS,
        "if name in _ORDERLY or name in ELSEWHERE:",
        "if name in ELSEWHERE:",
        ("c_null_finalize", "c_null_zero"),
        condition="comparison with NULL",
    ),
    Bug(
        "an exit whose code is not known tells of a failure",
        _ENDINGS,
        "if name in _EXITS and not (call.args and _value(program, found, frame, call.args[0])):",
        "if name in _EXITS and call.args and _value(program, found, frame, call.args[0]) == 0:",
        ("malloc_exit_status",),
        condition="comparison with NULL",
    ),
    Bug(
        "nothing comes before a test that changes the pointer",
        "opi_xform.ownership.placement.place",
        "return frozenset(set(self.null_tests) - later)",
        "return frozenset(self.null_tests)",
        ("null_back_loop", "null_back_two"),
        condition="comparison with NULL",
    ),
    Bug(
        "a test that finds what the program set does the same without memory",
        _NULL_TESTS,
        "if n in known or gives_up(program, buffer, n, addressed, n in unmoved):",
        "if n in known or n in unmoved or gives_up(program, buffer, n, addressed, n in unmoved):",
        ("null_back_goes_on", "null_back_flag", "null_back_small", "null_back_well"),
        condition="comparison with NULL",
    ),
    Bug(
        "a pointer is set by a plain statement where it may be NULL",
        "opi_xform.ownership.model.addresses",
        "return bool(set_at) and all(isinstance(self.graph.nodes[m].action, Unbind) for m in set_at)",
        "return bool(set_at)",
        ("null_choice_target",),
        Bug("", "opi_xform.ownership.placement.lost", "if sets and bits & (_EXTRA | _AWAITED):", "if False:", ()),
        condition="comparison with NULL",
    ),
    Bug(
        "memory of which the program knows nothing is not lost where it sets the pointer",
        "opi_xform.ownership.placement.lost",
        "if sets and bits & (_EXTRA | _AWAITED):",
        "if False:",
        ("callee_turns", "local_first_turns"),
        condition="allocation and free",
    ),
    Bug(
        "a pointer that a function sets to NULL holds what it held",
        "opi_xform.ownership.placement.events",
        "return bool(given) and given[-1].constant == 0",
        "return isinstance(getattr(self.program.graph.nodes[n].action, 'value', None), ins.Const)",
        ("null_turns_reset",),
        condition="allocation and free",
    ),
    Bug(
        "a name that is set right before a call that is put in has no value there",
        "opi_xform.ownership.placement.place",
        'if point == (u, "after") and v < len(self.graph.nodes):',
        "if False:",
        ("null_copied",),
        condition="old addresses",
    ),
)
