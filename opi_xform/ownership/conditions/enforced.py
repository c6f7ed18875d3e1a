"""Conditions that are enforced while the facts are computed, or where the calls are placed: they have no check here.

What one of these does not allow is an unknown value, a byte that counts as read, an object that counts as given away,
a use that is no buffer's.  Checks of other conditions find it there.
"""

from __future__ import annotations

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.condition import Condition

ENFORCED = (
    Condition(
        "counters",
        "A counter that outlives its function counts what is written, and is zero again after each send.",
        cases=("filled_*", "pack_out_of_step"),
        enforced=("ownership.buffers.counted:counted", "values.lockstep:lockstep"),
    ),
    Condition(
        "failed receives",
        "Where errors return and the program looks at one, nobody reads what a failed receive left (A5).",
        cases=("recv_error_*",),
        enforced=("ownership.liveness.failures:Failures",),
    ),
    Condition(
        "calls that fail",
        "A call of MPI comes back without an error only where nothing in the program lets errors return.",
        cases=("error_*",),
        enforced=("program.succeeding:succeeding", "program.succeeding:Succeeding"),
    ),
    Condition(
        "copies of structs",
        "A struct that a function has a copy of, or returns one of, stays as it is until the function returns.",
        cases=("by_value_*", "by_result_*"),
        enforced=("divide.structs.by_address:Untouched", "divide.structs.by_result:ByResult"),
    ),
    Condition(
        "arrays in structs",
        "An array leaves its struct only where all that names it stays in it, and nothing else comes there.",
        cases=("struct_array_*",),
        enforced=("divide.structs.from_structs:FromStructs", "divide.structs.read_out:ReadOut"),
    ),
    Condition(
        "short names",
        "What is written in the place of a local pointer has the same value wherever that is read.",
        cases=("short_*", "given_*"),
        enforced=("ownership.spelling.short_names:short_names", "ownership.spelling.given_names:given_names"),
    ),
    Condition(
        "bodies",
        "A body that stands where its function was called means the same there.",
        cases=("bodies_*",),
        enforced=("attempts.bodies:written_out",),
    ),
    Condition(
        "bytes of addresses",
        "An address stays one however its bytes travel; a pointer of which nothing is known leads anywhere.",
        cases=("c_bytes_*", "c_atomic_*", "c_volatile_*", "c_nowhere*"),
        enforced=("pointsto.constraints:GraphPointsTo", "pointsto.travel:travels"),
    ),
    Condition(
        "shared with others",
        "No other thread, signal handler or device touches the buffer.",
        codes=(Reason.VOLATILE.send, Reason.CONCURRENT.send),
        enforced=("ownership.model.addresses:AddressFlow", "ownership.spelling.declarations:source_refusal"),
    ),
    Condition(
        "values",
        "A number that the decision rests on is what the program finds there at each read.",
        cases=(
            "pack_count_*",
            "pack_sum_*",
            "recv_sum_*",
            "flag_*",
            "sound_*",
            "count_*",
            "tested_*",
            "order_*",
            "atomic_*",
        ),
        enforced=(
            "values.evaluate:Evaluator",
            "values.steps:Steps",
            "values.arithmetic.derived:derived",
            "calls.modified:modified_cells",
            "calls.stored:Stored",
            "values.arithmetic.floating:is_floating",
            "ir.operands:compared",
            "frontend.lower.atomics:atomic",
        ),
    ),
    Condition(
        "set on some paths",
        "A local number that is set on some of the paths that meet is that number after them. It is no constant, and "
        "the paths that set it agree.",
        cases=("partly_*",),
        enforced=("values.unset.partly_set:PartlySet",),
    ),
    Condition(
        "numbers that wrap",
        "An unsigned comparison and a number that is cut off count where nothing tells that C's value is another.",
        cases=("odd_unsigned_*", "odd_long_cut*", "odd_wrapped_*", "size_bound_*"),
        enforced=("memory.symbols:Symbols", "values.evaluate:Evaluator", "values.unsigned_bounds:believe"),
    ),
    Condition(
        "changed by others",
        "What others may write at any time is a new unknown at each read.",
        cases=("behind_*", "struct_copy_*"),
        enforced=("calls.foreign:foreign", "program.keeping:hidden"),
    ),
    Condition(
        "library functions",
        "What no table says of a library function is the worst case: of its variables, memory, results, formats.",
        cases=(
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
            "reduced_*",
        ),
        enforced=("effects.outside:foreign", "effects.formats:unread", "effects.formats:scanned", "values.steps:Steps"),
    ),
    Condition(
        "turns of a loop",
        "A loop has a number of iterations where its exit is tested in each of them.",
        cases=("send_exit_*", "once_*"),
        enforced=("values.trip_counts:tested_each_turn",),
    ),
    Condition(
        "calls that are not followed",
        "A call without a body in the graph changes nothing that a decision rests on.",
        cases=(
            "send_read_recursion*",
            "levels_*",
            "deeper_*",
            "called_by_*",
            "summary_*",
            "lost_*",
            "hook_*",
            "printed_*",
            "entries_*",
        ),
        enforced=(
            "ownership.relevance:relevant",
            "graph.loops:without_two_entries",
            "program.plain:Plain",
            "graph.summaries:Quiet",
            "calls.calls:Calls",
            "calls.summarised:Summarised",
            "calls.deeper:Deeper",
            "program.pointers:PointerCalls",
            "program.printing:printing",
            "ownership.conditions.memory.levels:levels_refusal",
            "ownership.conditions.memory.levels:levels_site",
        ),
    ),
    Condition(
        "rows and parts",
        "Where a buffer is one row or one part of an object, no access spans two.",
        cases=("rows_*", "parts_*", "odd_ghost_rows", "send_rows_*", "recv_rows_*"),
        enforced=(
            "ownership.placement.row_graph:views",
            "ownership.buffers.uses:is_rows",
            "ownership.buffers.row_lengths:RowLengths",
            "divide.find:Dividing",
            "divide.named.proof:NamedDividing",
            "divide.named.by_arrays_proof:RowsProof",
        ),
    ),
    Condition(
        "starts",
        "A block of its own stands for some elements of a buffer only where nothing else touches them meanwhile.",
        cases=("starts_*", "anew_*"),
        enforced=(
            "divide.passages.find:passages",
            "divide.passages.early:stands_early",
            "divide.passages.guards:comes_to",
            "divide.passages.proof:Proof",
            "divide.passages.proof:Between",
            "divide.passages.one_name:one_name",
        ),
    ),
    Condition(
        "stretches",
        "What receives in a loop bring is read only in the stretch of the message that brought it, and nowhere later.",
        cases=("stretches_*",),
        enforced=(
            "divide.passages.tables:tables",
            "divide.passages.table_proof:TableProof",
            "divide.passages.table_proof:Behind",
        ),
    ),
    Condition(
        "pointers that change places",
        "Both buffers of a swap convert or none does, and they are alike.",
        cases=("*swap*",),
        enforced=("ownership.swaps:joined",),
    ),
    Condition(
        "one at a time",
        "Of allocations that count as one, memory is there once at most; a pointer that nobody set is not followed.",
        cases=("regrow_*", "unset_*"),
        enforced=(
            "pointsto.successive:successive",
            "pointsto.last_names:leave_nothing_behind",
            "values.unset.nullable:resolve_offset",
        ),
    ),
    Condition(
        "last use",
        "Nobody uses a block whose life ends with its send, and what malloc and free become is right for their pool.",
        cases=("last_*",),
        enforced=("ownership.last.blocks:Blocks", "ownership.last.sends:LastSends", "ownership.last.edits:of_blocks"),
    ),
    Condition(
        "first use",
        "A block that another takes the place of is as malloc gave it and no larger, and no other name of it is used.",
        cases=("first_*",),
        enforced=("ownership.last.fresh:FreshBlocks", "ownership.last.edits:of_blocks"),
    ),
    Condition(
        "set by a function",
        "Nothing but loads and stores that are looked at reach a pointer whose address functions have.",
        cases=("out_parameter_*", "out_member_*", "addressed_*"),
        enforced=(
            "program.out_parameters:OutParameters",
            "program.handed_out:HandedOut",
            "program.addressed:Addressed",
        ),
    ),
    Condition(
        "placement",
        "On every path an acquire precedes each access, and a release follows the last.",
        codes=(Reason.NO_ANCHOR.send, Reason.UNPAIRED.send, Reason.NO_ANCHOR.recv),
        enforced=("ownership.placement.place:place",),
        words=("ownership.placement.place:place", "ownership.placement.situation:Unplaceable"),
    ),
)
