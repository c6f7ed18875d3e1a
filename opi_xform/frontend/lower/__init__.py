"""From libclang's tree to the IR: expressions, statements, declarations, initialisers."""
