"""The model of memory: objects, symbolic numbers, accesses, and what is asked of points-to."""
