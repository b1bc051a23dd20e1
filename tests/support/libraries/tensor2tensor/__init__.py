"""In the place of the library, which the runtimes have not: its search alone, of our own."""
