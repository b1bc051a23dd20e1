"""The author's text in new surroundings: expressions, statements, calls, their layout."""
