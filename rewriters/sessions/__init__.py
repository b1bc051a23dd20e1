"""Sessions, which become steps. Only a run with sessions imports them."""
