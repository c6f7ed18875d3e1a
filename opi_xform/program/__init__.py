"""What functions of the program do, told from their text: allocate, only compute, print, keep an address."""
