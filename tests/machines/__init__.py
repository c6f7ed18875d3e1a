"""Machines that make or judge programs by themselves."""
