"""The command line of opi-xform: options, inputs, the way from sources to output, exit codes."""
