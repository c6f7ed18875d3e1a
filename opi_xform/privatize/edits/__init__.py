"""Private variables as text: where they are declared, initialised and used."""
