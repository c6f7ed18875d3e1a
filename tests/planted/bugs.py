"""The planted bugs: each forgets one thing that soundness rests on, by one change of the analyser's text."""

from tests.planted.bug import Bug
from tests.planted.bugs_addressed import ADDRESSED
from tests.planted.bugs_allocations import ALLOCATIONS
from tests.planted.bugs_atomic import ATOMIC
from tests.planted.bugs_bearing import BEARING
from tests.planted.bugs_behind import BEHIND
from tests.planted.bugs_busy import BUSY
from tests.planted.bugs_conditions import CONDITIONS
from tests.planted.bugs_copies import COPIES
from tests.planted.bugs_deeper import DEEPER
from tests.planted.bugs_handed import HANDED
from tests.planted.bugs_last import LAST
from tests.planted.bugs_left_out import LEFT_OUT
from tests.planted.bugs_levels import LEVELS
from tests.planted.bugs_lifts import LIFTS
from tests.planted.bugs_memory import MEMORY
from tests.planted.bugs_nobody import NOBODY
from tests.planted.bugs_null import NULL
from tests.planted.bugs_numbers import NUMBERS
from tests.planted.bugs_own import OWN
from tests.planted.bugs_partly import PARTLY
from tests.planted.bugs_parts import PARTS
from tests.planted.bugs_patterns import PATTERNS
from tests.planted.bugs_pointers import POINTERS
from tests.planted.bugs_products import PRODUCTS
from tests.planted.bugs_requests import REQUESTS
from tests.planted.bugs_spelled import SPELLED
from tests.planted.bugs_starts import STARTS
from tests.planted.bugs_structs import STRUCTS
from tests.planted.bugs_summaries import SUMMARIES
from tests.planted.bugs_sums import SUMS
from tests.planted.bugs_swaps import SWAPS
from tests.planted.bugs_tables import TABLES
from tests.planted.bugs_threads import THREADS
from tests.planted.bugs_tiles import TILES
from tests.planted.bugs_travel import TRAVEL
from tests.planted.bugs_written import WRITTEN

_FOREIGN = "opi_xform.calls.foreign"
_CONSTRAINTS = "opi_xform.pointsto.constraints"
_EVENTS = "opi_xform.ownership.liveness.buffer_events"
_LIVENESS = "opi_xform.ownership.liveness.liveness"
_LIVE = "opi_xform.regions.live"
_ALIASES = "opi_xform.ownership.conditions.addresses.aliases"
_MODIFIED = "opi_xform.calls.modified"
_REQUESTS = "opi_xform.ownership.conditions.calls.pending_requests"
_STEPS = "opi_xform.values.steps"
_UNSEEN = "opi_xform.ownership.spelling.attributes"

BUGS = (
    Bug(
        "reads at unknown places do not count",
        _EVENTS,
        "if lo is None or length is None:\n            return None if must else self.bound",
        "if lo is None or length is None:\n            return None if must else self.regions.none",
        ("send_read_string", "send_fwrite", "send_read_qsort", "send_read_alias", "pack_either_target"),
        condition="read after send",
    ),
    Bug(
        "what a call may write counts as written",
        _EVENTS,
        "        if not a.must:\n            return None\n",
        "",
        ("pack_fread", "pack_sprintf", "pack_strcpy", "pack_conditional"),
        condition="packed",
    ),
    Bug(
        "first contents of allocated memory count as nothing",
        _EVENTS,
        "out[n] = defined or filled",
        "out[n] = False",
        ("f_zeros_filled",),
        condition="first contents",
    ),
    Bug(
        "what a function fills its memory with counts as calloc's zeros",
        _EVENTS,
        'if call.callee.key == "calloc" and not filled:',
        'if call.callee.key == "calloc":',
        ("f_zeros_begun",),
        condition="first contents",
    ),
    Bug(
        "memory of every allocator has zeros",
        _EVENTS,
        'if call.callee.key == "calloc" and not filled:',
        "if True:",
        ("f_zeros_filled", "f_zeros_begun"),
        condition="first contents",
    ),
    Bug(
        "an allocation may ask twice how much it asks for",
        "opi_xform.ownership.placement.allocation_edits",
        "if variable and any(has_effect(x) for x in call.args):",
        "if False:",
        ("f_zeros_effect",),
        condition="first contents",
    ),
    Bug(
        "zeros of static storage count as nothing",
        _LIVENESS,
        'if info.kind == "variable" and info.frame < 0 and not at_entry.is_empty():',
        "if False:",
        ("f_static_zeros", "f_global_zero", "f_unsent_first"),
        condition="first contents",
    ),
    Bug(
        "every source is a real rank",
        _EVENTS,
        "if not self.null.possible(u.node, u.buffer.peer):",
        "if True:",
        ("recv_proc_null", "recv_cart_shift"),
        condition="real source",
    ),
    Bug(
        "a message arrives whatever the source is",
        _EVENTS,
        "return region.intersect(guard)",
        "return region",
        ("recv_null_wrong_guard", "recv_proc_null_zeros", "recv_proc_null", "recv_cart_shift"),
        condition="real source",
    ),
    Bug(
        "room is enough behind what a receive takes",
        _LIVENESS,
        'taken = [u for u in self.uses if u.side == "recv" and u.place in converted]',
        "taken: list[Use] = []",
        ("e_one_more", "e_larger_later", "e_terminator", "e_scratch_behind"),
        condition="capacity",
    ),
    Bug(
        "bytes sent need not have been written",
        _EVENTS,
        "return Event(None, None if u.place in self.packed else self.region(u.node, u.lo, u.length, False))",
        "return Event(None, None)",
        ("pack_hole_middle", "pack_last_missing", "pack_break"),
        condition="packed",
    ),
    Bug(
        "a send sends one byte less",
        _LIVE,
        "out[key] = self.regions.unwritten(s, event.kill).coalesce()",
        "out[key] = self.regions.none",
        ("pack_hole_middle", "pack_last_missing", "pack_memcpy_short"),
        condition="packed",
    ),
    Bug(
        "reads of the next turn are forgotten",
        _LIVE,
        "latch = self.starting(summary.gen, k + number(1))",
        "latch = regions.none",
        ("send_read_next_turn", "pack_header_once", "pack_first_time_flag"),
        condition="read after send",
    ),
    Bug(
        "a loop writes all that it writes in some turn",
        _LIVE,
        "s = s.intersect(self.starting(self.through(loop)[edge], number(0)))",
        "s = regions.none",
        ("pack_zero_trip", "pack_break", "pack_last_missing"),
        condition="packed",
    ),
    Bug(
        "reads inside loops are forgotten",
        _LIVE,
        "out[None] = out[None].union(gen).coalesce() if None in out else gen",
        "out[None] = out.get(None, regions.none)",
        ("send_read_pointer_loop", "send_read_same", "send_read_later_phase"),
        condition="read after send",
    ),
    Bug(
        "the bound of a loop is one too high",
        "opi_xform.regions.guards",
        '_NEGATED = {"<": ">=",',
        '_NEGATED = {"<": ">",',
        ("pack_last_missing", "pack_bound_shrinks", "pack_zero_trip", "pack_break"),
        condition="packed",
    ),
    Bug(
        "values that merge are not told apart",
        _LIVE,
        "            if total is not None:\n                if total.dim",
        "            if total is not None and key is not None:\n                if total.dim",
        ("send_read_branch", "pack_conditional", "recv_conditional_old"),
        condition="read after receive",
    ),
    Bug(
        "what an object begins with is read as anything",
        "opi_xform.values.interp",
        "                self.kinds.setdefault((o, offset), set()).add(kind_of(item.type))\n",
        "",
        ("begun_other_member",),
        condition="values",
    ),
    Bug(
        "a number that an object begins with is not overwritten by parts of it",
        "opi_xform.values.interp",
        "set()).add(offset)\n                self.out.put((o, offset), self.constant",
        "set())\n                self.out.put((o, offset), self.constant",
        ("begun_by_bytes", "begun_copied", "begun_received"),
        condition="values",
    ),
    Bug(
        "what a site calls the buffer is another name of it",
        "opi_xform.ownership.spelling.second_names",
        "frozenset(keys & second_names(program, units, buffer).keys())",
        "frozenset(keys)",
        ("named_call_shadowed",),
        condition="placement",
    ),
    Bug(
        "second names may be older than the hand-over",
        _ALIASES,
        "if found.crosses(n, after):",
        "if False:",
        ("c_interior_table", "c_biased", "c_end_pointer", "c_saved_once", "c_cursor_across_turns"),
        condition="old addresses",
    ),
    Bug(
        "destructors are not run",
        _UNSEEN,
        "(constructor|destructor|cleanup|",
        "(constructor|cleanup|",
        ("odd_destructor",),
        condition="analysed",
    ),
    Bug(
        "sizes of arrays are not evaluated where they are declared",
        "opi_xform.ir.lowering.statements",
        "sizes = list(s.sizes)",
        "sizes: list[tuple[int, ast.Expr]] = []",
        ("send_read_array_size", "send_read_array_row", "send_read_array_typedef", "send_read_array_call"),
        condition="read after send",
    ),
    Bug(
        "an object has one name",
        _UNSEEN,
        "cleanup|ifunc|alias|weakref",
        "cleanup|ifunc|weakref",
        ("g_alias_pointer", "g_alias_flag", "g_alias_start", "odd_alias"),
        condition="analysed",
    ),
    Bug(
        "labels of the assembler name nothing",
        _UNSEEN,
        "return any(name.search(text) for text in texts)",
        "return False",
        ("odd_asm_name",),
        condition="analysed",
    ),
    Bug(
        "loads read nothing",
        _STEPS,
        'targets = self.touch(node, address, operand, frame, "R", size, False)',
        "targets: frozenset[int] = frozenset()",
        ("send_read_same", "send_read_next_turn"),
        condition="read after send",
    ),
    Bug(
        "of two paths only one is looked at",
        _LIVE,
        "total = part if total is None else total.union(part)",
        "total = part if total is None else total",
        ("send_read_branch", "pack_conditional", "pack_other_branch", "pack_short_circuit", "pack_switch"),
        condition="read after send",
    ),
    Bug(
        "the default of a switch is never taken",
        _LIVE,
        "guards = list(self.guards.cases(last, action))",
        "guards = [g.subtract(g) if g is not None and i else g for i, g in enumerate(self.guards.cases(last, action))]",
        ("pack_switch", "pack_other_branch"),
        condition="packed",
    ),
    Bug(
        "requests are complete at once",
        "opi_xform.ownership.requests.pending",
        "asked = [a for a in asked if names.follows(post, a.node)]",
        "asked = []",
        ("d_two_isends", "d_iallreduce", "d_ibcast", "d_isend_unwaited_path", "d_put", "b_swap_pending"),
        condition="pending requests",
    ),
    Bug(
        "library functions read nothing",
        _STEPS,
        '("R", effect.reads, False),',
        '("R", (), False),',
        ("send_read_memcpy", "send_read_memcmp", "send_fwrite", "send_reduce_after", "pack_sprintf"),
        condition="read after send",
    ),
    Bug(
        "functions that the library calls are not run",
        _STEPS,
        "if calls_back(effect, call) and node.number not in self.calls.graph.followed:",
        "if False:",
        ("send_read_atexit", "odd_signal", "g_unknown_order"),
        Bug(
            "what functions that the library calls are given does not get outside",
            _CONSTRAINTS,
            "if effect is None or (not followed and calls_back(effect, call)):",
            "if effect is None:",
            (),
        ),
        condition="read after send",
    ),
    Bug(
        "writing one row writes all of them",
        _EVENTS,
        "        return out.intersect(here)\n\n    def within",
        "        return out\n\n    def within",
        ("rows_one_unpacked", "rows_packed_elsewhere", "rows_stale_on_some", "rows_neighbour_read", "pack_row_missing"),
        condition="rows and parts",
    ),
    Bug(
        "narrow counters do not wrap",
        "opi_xform.values.evaluate",
        "        return self.narrow(to, value)\n\n    def comparison",
        "        return value\n\n    def comparison",
        ("pack_narrow_count", "pack_wrapped_index", "sound_values", "sound_bit_field"),
        condition="values",
    ),
    Bug(
        "writes that a turn may skip count as a run",
        "opi_xform.regions.telescope",
        "if not all(self.nest.dominates(block, latch) for latch in loop.latches):",
        "if False:",
        ("pack_continue", "pack_conditional", "pack_counter_gap", "pack_short_circuit"),
        condition="packed",
    ),
    Bug(
        "stores in loops change nothing",
        _MODIFIED,
        "                self.modify_at(frame, address, size, cells)",
        "                pass",
        ("pack_count_member_loop", "pack_count_pointer_loop"),
        condition="values",
    ),
    Bug(
        "assigned structs in loops change nothing",
        _MODIFIED,
        "            case ins.CopyBytes(target=destination):\n"
        "                self.modify_all(self.pts.accessed(frame, destination), cells)",
        "            case ins.CopyBytes(target=destination):\n                pass",
        ("pack_count_copied_loop",),
        condition="values",
    ),
    Bug(
        "library functions in loops change nothing",
        _MODIFIED,
        "self.modify_at(frame, call.args[i], self.written(effect, region, i, call), cells)",
        "pass",
        ("pack_count_scanned_loop",),
        condition="values",
    ),
    Bug(
        "unknown functions in loops change nothing",
        _MODIFIED,
        "                if effect is None:\n                    self.modify_all(self.calls.lost(node), cells)\n",
        "                if effect is None:\n",
        ("pack_count_unknown_loop",),
        Bug(
            "an unknown function keeps nothing",
            _FOREIGN,
            "yield calls.lost(node), unknown(call)",
            "pass",
            (),
        ),
        condition="values",
    ),
    Bug(
        "what an unknown function may write keeps its value",
        _STEPS,
        "reason)\n        self.havoc(objects, node)",
        "reason)",
        ("pack_count_unknown_loop",),
        Bug(
            "an unknown function keeps nothing",
            _FOREIGN,
            "yield calls.lost(node), unknown(call)",
            "pass",
            (),
        ),
        condition="values",
    ),
    Bug(
        "deeper levels of a recursive function change nothing",
        _STEPS,
        "        self.havoc(changed, node)\n        return found & more\n",
        "        return found & more\n",
        ("pack_count_recursive_loop",),
        condition="values",
    ),
    Bug(
        "assigning whole structs reads nothing",
        _STEPS,
        '                self.touch(node, origin, source, frame, "R", size, False)\n',
        "",
        ("member_assign0", "table_copy", "send_read_whole_struct"),
        condition="members and tables",
    ),
    Bug(
        "initialisers of locals count as nothing",
        _EVENTS,
        "out[n] = self.program.variables[info.variable].init is not None",
        "out[n] = False",
        ("f_local_string_added",),
        condition="first contents",
    ),
    Bug(
        "requests may be cancelled or freed",
        _REQUESTS,
        "        if given_up:\n            notes",
        "        if False:\n            notes",
        ("d_request_freed", "d_cancelled"),
        condition="pending requests",
    ),
    Bug(
        "what is freed is never a copy of another request",
        _REQUESTS,
        "copied = None if _only_posted(names, other.object) else _copied(names, slot.object)",
        "copied = None",
        ("d_copy_freed", "d_copied_bytes_freed"),
        condition="pending requests",
    ),
    Bug(
        "a function that frees may do more",
        "opi_xform.ownership.allocation.deallocations",
        "            case _:\n                return False\n\n    def is_local",
        "            case _:\n                return True\n\n    def is_local",
        ("c_free_wrapper_counts",),
        condition="allocation and free",
    ),
    *ADDRESSED,
    *ALLOCATIONS,
    *ATOMIC,
    *BEHIND,
    *DEEPER,
    *HANDED,
    *BUSY,
    *LAST,
    *LEFT_OUT,
    *LEVELS,
    *LIFTS,
    *STRUCTS,
    *SUMMARIES,
    *SUMS,
    *THREADS,
    *MEMORY,
    *NOBODY,
    *NULL,
    *NUMBERS,
    *OWN,
    *CONDITIONS,
    *COPIES,
    *PARTLY,
    *PARTS,
    *PATTERNS,
    *STARTS,
    *WRITTEN,
    *SPELLED,
    *POINTERS,
    *BEARING,
    *PRODUCTS,
    *REQUESTS,
    *SWAPS,
    *TABLES,
    *TILES,
    *TRAVEL,
)
