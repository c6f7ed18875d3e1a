"""How long a message can be, by all that the program sends: a receive's count is only the room that there is.

Assumption A1 says that nobody reads beyond the message that came.  Where every message that can meet a receive has a
constant length, smaller than the receive's, it is known that the bytes between the two do not come.
"""

from __future__ import annotations

from opi_xform.ir import instr as ins
from opi_xform.once import once
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.procnull.carried import Channel, channel


def shorter(program: Program, use: Use) -> int | None:
    """Bytes that no message exceeds which can meet a receive, where these are fewer than it has room for.

    None: not so, or not all of them are constant, or there is none.  What functions send that are not known is not
    counted: to count on less than comes is safe.
    """
    room = None if use.length is None else program.values.symbols.resolve(use.length).constant
    if use.side != "recv" or room is None:
        return None
    mine = _channel(program, use)
    lengths = [length for sent, length in _sent(program) if sent.meets(mine)]
    known = [length for length in lengths if length is not None]
    most = max(known, default=room) if len(known) == len(lengths) else room
    return most if most < room else None


@once
def _sent(program: Program) -> list[tuple[Channel, int | None]]:
    """Each message that a point-to-point call sends: what it can meet, and its bytes, if these are constant."""
    resolve = program.values.symbols.resolve
    sends = (u for u in collect(program) if u.side == "send")
    return [(_channel(program, u), None if u.length is None else resolve(u.length).constant) for u in sends]


def _channel(program: Program, use: Use) -> Channel:
    call = program.graph.nodes[use.node].action
    assert isinstance(call, ins.CallInstr)
    assert isinstance(call.callee, ins.AddrFunc)
    effect = program.effects.get(call.callee.key)
    assert effect is not None
    return channel(effect, use.buffer, call, program.values.args[use.node])
