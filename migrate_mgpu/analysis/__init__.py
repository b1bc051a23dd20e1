"""What the code of a run means: scopes, names, modules, calls, value flow, order."""
