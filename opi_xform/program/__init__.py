"""The program as a whole: call graph, function summaries, the effects of library functions, and the driver."""
