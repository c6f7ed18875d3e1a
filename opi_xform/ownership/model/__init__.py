"""Buffers, sites and plans; where addresses are held; what every condition asks of a program."""
