"""The value of every operand as a polynomial, and every access to memory: one forward pass."""
