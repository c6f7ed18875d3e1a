"""The conditions of a conversion: what is required, and which functions enforce it.

docs/soundness.md shows this table with the cases and the planted bugs of each row (``python -m tests.audit``).
"""

from __future__ import annotations

from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition.

    name: what planted bugs call it by.  requires: one sentence.  enforced: the functions or classes that see to it,
    ``module:name`` below ``opi_xform``.  codes: what a site gets that fails it.  cases: patterns of names in
    tests/cases/*/keep that are about it, beside those whose expectation names one of its codes.
    """

    name: str
    requires: str
    enforced: tuple[str, ...]
    codes: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()


TABLE = (
    Condition(
        "read after send",
        "No byte of the buffer is read after the send before it is written again.",
        ("ownership.liveness.liveness:Judge", "regions.live:Live"),
        ("OPI101",),
        ("send_*", "statement_*"),
    ),
    Condition(
        "packed",
        "Every byte that a send sends is written since the last hand-over, on every path.",
        ("ownership.liveness.liveness:Judge", "regions.telescope:Telescope"),
        ("OPI102",),
        ("pack_*",),
    ),
    Condition(
        "two ways",
        "A site that liveness lets convert is allowed by the pattern table of its side, too.",
        ("ownership.patterns.agree:Patterns", "ownership.patterns.agree:disagreement"),
        ("OPI910",),
        ("send_read_same", "send_read_string", "pack_conditional"),
    ),
    Condition(
        "counters",
        "A counter that outlives its function counts what is written, and is zero again after each send.",
        ("ownership.buffers.counted:counted", "values.lockstep:lockstep"),
        (),
        ("filled_*", "pack_out_of_step"),
    ),
    Condition(
        "first contents",
        "Zeros and initialisers count as written: nobody reads or sends them where an OPI_Alloc stands; "
        "calloc's, and those of static memory after a receive that may bring nothing, are there where an OPI_Calloc "
        "stands.",
        ("ownership.liveness.liveness:Judge", "ownership.explain.reasons:ended_by_initialiser"),
        ("OPI110", "OPI210"),
        ("f_*", "initialised_*"),
    ),
    Condition(
        "read after receive",
        "After a receive only those bytes are read that it brings.",
        ("ownership.liveness.liveness:Judge", "regions.live:Live", "regions.grown:Grown"),
        ("OPI201", "OPI202"),
        ("recv_*", "counted_read_*"),
    ),
    Condition(
        "real source",
        "The source of a receive is a real rank, or what is read does not rest on the message (A2); or the call that "
        "takes the receive's place leaves the buffer where it is.",
        (
            "ownership.procnull.sources:ProcNull",
            "ownership.procnull.real_ranks:Ranks",
            "ownership.conditions.replacing:replacing_together",
        ),
        ("OPI203",),
    ),
    Condition(
        "failed receives",
        "Where errors return and the program looks at one, nobody reads what a failed receive left (A5).",
        ("ownership.liveness.failures:Failures",),
        (),
        ("recv_error_*",),
    ),
    Condition(
        "calls that fail",
        "A call of MPI comes back without an error only where nothing in the program lets errors return.",
        ("program.succeeding:succeeding", "program.succeeding:Succeeding"),
        (),
        ("error_*",),
    ),
    Condition(
        "capacity",
        "Until the next acquire, accesses stay inside what the take makes room for.",
        ("ownership.liveness.liveness:Judge",),
        ("OPI216",),
        ("e_*",),
    ),
    Condition(
        "carrier",
        "One lvalue names the start of the buffer; it outlives, unmoved, every request that holds its address.",
        (
            "ownership.buffers.uses:buffers",
            "ownership.explain.unknown_buffers:stray_refusal",
            "ownership.spelling.parameters:Parameters",
            "ownership.spelling.lifts:Lifts",
        ),
        ("OPI104", "OPI204", "OPI402"),
        ("b_*", "lifted_*", "matrix_*", "second_*", "macro_named"),
    ),
    Condition(
        "members and tables",
        "A pointer in a struct or a table is one place in memory, and only its own loads and stores reach it.",
        (
            "ownership.buffers.members:promote",
            "ownership.buffers.tables:TableFinder",
            "ownership.buffers.same_member:table_of",
        ),
        (),
        ("const_*", "member_*", "nested_*", "table_*", "twins_*"),
    ),
    Condition(
        "copies of structs",
        "A struct that a function has a copy of, or returns one of, stays as it is until the function returns.",
        ("divide.structs.by_address:Untouched", "divide.structs.by_result:ByResult"),
        (),
        ("by_value_*", "by_result_*"),
    ),
    Condition(
        "arrays in structs",
        "An array leaves its struct only where all that names it stays in it, and nothing else comes there.",
        ("divide.structs.from_structs:FromStructs",),
        (),
        ("struct_array_*",),
    ),
    Condition(
        "short names",
        "What is written in the place of a local pointer has the same value wherever that is read.",
        ("ownership.spelling.short_names:short_names", "ownership.spelling.given_names:given_names"),
        (),
        ("short_*", "given_*"),
    ),
    Condition(
        "old addresses",
        "No other value made of the buffer's address is used across an acquire or a release.",
        ("ownership.model.addresses:value_refusal", "ownership.conditions.aliases:alias_refusal"),
        ("OPI105", "OPI205"),
        ("c_*", "replace_*"),
    ),
    Condition(
        "comparison with NULL",
        "Where the program compares the pointer with NULL, it finds what it found before.",
        ("ownership.allocation.null_tests:uncertain_test", "ownership.allocation.lazy_tests:tests_of_allocations"),
        (),
        ("c_null_*", "null_*", "lazy_*"),
    ),
    Condition(
        "pending requests",
        "No other operation on the buffer is pending where it changes hands.",
        ("ownership.conditions.pending_requests:pending_refusal", "ownership.requests.completions:completing_edges"),
        ("OPI106", "OPI206"),
        ("d_*",),
    ),
    Condition(
        "escape",
        "The buffer's address goes nowhere that the analysis cannot follow.",
        ("ownership.model.addresses:Flow", "pointsto.constraints:GraphPointsTo"),
        ("OPI103", "OPI214", "OPI403"),
    ),
    Condition(
        "bytes of addresses",
        "An address stays one however its bytes travel; a pointer of which nothing is known leads anywhere.",
        (
            "pointsto.constraints:GraphPointsTo",
            "pointsto.travel:travels",
        ),
        (),
        (
            "c_bytes_*",
            "c_atomic_*",
            "c_volatile_*",
            "c_nowhere*",
        ),
    ),
    Condition(
        "shared with others",
        "No other thread, signal handler or device touches the buffer.",
        ("ownership.model.addresses:Flow", "ownership.spelling.declarations:source_refusal"),
        ("OPI404", "OPI405"),
    ),
    Condition(
        "values",
        "A number that the decision rests on is what the program finds there at each read.",
        (
            "values.evaluate:Evaluator",
            "values.steps:Steps",
            "calls.modified:modified_cells",
            "calls.stored:Stored",
            "values.floating:is_floating",
            "ir.operands:compared",
            "frontend.lower.atomics:atomic",
        ),
        (),
        ("pack_count_*", "flag_*", "sound_*", "count_*", "tested_*", "order_*", "atomic_*"),
    ),
    Condition(
        "set on some paths",
        "A local number that is set on some of the paths that meet is that number behind them: no constant, and none "
        "that the paths do not agree on.",
        ("values.partly_set:PartlySet",),
        (),
        ("partly_*",),
    ),
    Condition(
        "numbers that wrap",
        "An unsigned comparison and a number that is cut off count where nothing tells that C's value is another.",
        ("memory.symbols:Symbols", "values.evaluate:Evaluator", "values.unsigned_bounds:believe"),
        (),
        ("odd_unsigned_*", "odd_long_cut*", "odd_wrapped_*", "size_bound_*"),
    ),
    Condition(
        "changed by others",
        "What others may write at any time is a new unknown at each read.",
        (
            "calls.foreign:foreign",
            "program.keeping:hidden",
        ),
        (),
        ("behind_*", "struct_copy_*"),
    ),
    Condition(
        "library functions",
        "What no table says of a library function is the worst case: of its variables, memory, results, formats.",
        (
            "effects.outside:foreign",
            "effects.formats:unread",
            "effects.formats:scanned",
        ),
        (),
        (
            "scanf_*",
            "words_*",
            "odd_percent_*",
            "odd_signgam",
            "odd_optind*",
            "odd_errno",
            "odd_localtime*",
            "odd_*_stored",
            "odd_strtok_*",
            "odd_fortran_*",
        ),
    ),
    Condition(
        "turns of a loop",
        "A loop has a number of iterations where its exit is tested in each of them.",
        ("values.trip_counts:tested_each_turn",),
        (),
        ("send_exit_*", "once_*"),
    ),
    Condition(
        "calls that are not followed",
        "A call without a body in the graph changes nothing that a decision rests on.",
        (
            "ownership.relevance:relevant",
            "program.plain:Plain",
            "graph.summaries:Quiet",
            "calls.calls:Calls",
            "calls.summarised:Summarised",
            "calls.deeper:Deeper",
            "program.pointers:PointerCalls",
            "program.printing:printing",
            "ownership.conditions.levels:levels_refusal",
            "ownership.conditions.levels:levels_site",
        ),
        (),
        ("send_read_recursion*", "levels_*", "deeper_*", "called_by_*", "summary_*", "lost_*", "hook_*", "printed_*"),
    ),
    Condition(
        "buffers of one activation",
        "A buffer in a function that calls itself is one call's own, and what is known of it holds at each level.",
        (
            "calls.own:own",
            "ownership.conditions.levels:levels_refusal",
            "ownership.conditions.levels:levels_site",
            "ownership.conditions.levels:levels_written",
        ),
        (),
        ("activation_*", "levels_own", "levels_arm", "levels_callback", "lifted_recursive"),
    ),
    Condition(
        "OpenMP threads",
        "What threads run does the same in order, and holds no edit.",
        (
            "frontend.lower.openmp:find_regions",
            "program.threads:followed",
            "ownership.conditions.threads:in_threads",
            "ownership.conditions.threads:threads_written",
        ),
        (),
        ("omp_*",),
    ),
    Condition(
        "budget",
        "What is too large to be computed counts as read everywhere and written nowhere.",
        ("regions.sets:Regions",),
        ("OPI401",),
        ("budget_*",),
    ),
    Condition(
        "rows and parts",
        "Where a buffer is one row or one part of an object, no access spans two.",
        (
            "ownership.placement.row_graph:views",
            "ownership.buffers.uses:is_rows",
            "divide.find:Dividing",
            "divide.named.proof:NamedDividing",
        ),
        (),
        ("rows_*", "parts_*", "odd_ghost_rows", "send_rows_*", "recv_rows_*"),
    ),
    Condition(
        "starts",
        "A block of its own stands for some elements of a buffer only where nothing else touches them meanwhile.",
        ("divide.passages.find:passages", "divide.passages.proof:Proof", "divide.passages.proof:Between"),
        (),
        ("starts_*",),
    ),
    Condition(
        "pointers that change places",
        "Both buffers of a swap convert or none does, and they are alike.",
        ("ownership.swaps:joined",),
        (),
        ("*swap*",),
    ),
    Condition(
        "one at a time",
        "Of allocations that count as one, memory is there once at most; a pointer that nobody set is not followed.",
        ("pointsto.successive:successive", "pointsto.last_names:leave_nothing_behind", "values.nullable:settle"),
        (),
        ("regrow_*", "unset_*"),
    ),
    Condition(
        "last use",
        "Nobody uses a block whose life ends with its send, and what malloc and free become is right for their pool.",
        ("ownership.last.blocks:Blocks", "ownership.last.sends:LastSends", "ownership.last.edits:last_sends"),
        (),
        ("last_*",),
    ),
    Condition(
        "set by a function",
        "Nothing but loads and stores that are looked at reach a pointer whose address functions have.",
        ("program.out_parameters:OutParameters", "program.handed_out:HandedOut", "program.addressed:Addressed"),
        (),
        ("out_parameter_*", "out_member_*", "addressed_*"),
    ),
    Condition(
        "allocation and free",
        "Allocation, growth and freeing are what the tool takes them for, and what they do besides still happens.",
        (
            "ownership.allocation.allocations:find_allocations",
            "ownership.conditions.allocators:allocator_refusal",
            "ownership.conditions.alignment:needing",
            "ownership.allocation.repeated:settled",
            "ownership.allocation.busy:still_called",
            "ownership.allocation.deallocations:deallocation",
        ),
        (),
        (
            "grow_*",
            "malloc_*",
            "c_free_*",
            "a_*",
            "null_choice_*",
            "memalign_*",
            "local_first_*",
            "freed_*",
            "g_aligned_*",
            "g_mapped_*",
            "busy_*",
            "far_*",
        ),
    ),
    Condition(
        "placement",
        "On every path an acquire precedes each access, and a release follows the last.",
        ("ownership.placement.place:place",),
        ("OPI114", "OPI115", "OPI215"),
    ),
    Condition(
        "form of the call",
        "The call is the MPI's own, has an ownership-passing form, and its datatype no gaps.",
        ("ownership.buffers.uses:collect", "ownership.conditions.bypass:bypass"),
        ("OPI107", "OPI207"),
        ("g_own_mpi_*", "g_profiling_*"),
    ),
    Condition(
        "declaration",
        "Nothing depends on the buffer being an array.",
        ("ownership.spelling.declarations:source_refusal",),
        ("OPI113", "OPI213"),
        ("vla_*",),
    ),
    Condition(
        "text",
        "Every edit lies in text that is written once and that no macro makes.",
        (
            "ownership.spelling.configurations:shared_text",
            "rewrite.apply:obstacle",
            "frontend.macros.written_out:written_out",
        ),
        ("OPI109", "OPI209"),
        ("g_header_*", "written_out_*"),
    ),
    Condition(
        "whole program",
        "All files and configurations that can see the buffer are part of the analysis.",
        (
            "ownership.spelling.configurations:left_out",
            "ownership.spelling.configurations:naming",
            "ownership.spelling.declarations:source_refusal",
        ),
        ("OPI112", "OPI212"),
        ("g_*",),
    ),
    Condition(
        "analysed",
        "The call is reached from main, by paths that the analysis follows.",
        ("ownership.spelling.attributes:unseen_call", "ownership.decide:decide"),
        ("OPI111", "OPI211"),
    ),
)
