"""Text in and out: files, notebooks, statements and calls changed in their author's layout."""
