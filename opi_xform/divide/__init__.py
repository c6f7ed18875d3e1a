"""Several messages in one buffer: where its parts do not touch, the source is rewritten to one buffer for each."""

SHARED = frozenset({"OPI104", "OPI204"})
"""Codes of sites that stay because their message is not the whole buffer: what dividing it may help."""
WRITTEN = frozenset({"OPI109", "OPI209"})
"""Codes of sites that stay because a macro writes the call: where that is written out, dividing the buffer may help."""
