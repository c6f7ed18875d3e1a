"""What pointers may point to: inclusion constraints and their least solution; allocations that count as one."""
