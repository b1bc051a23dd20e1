"""The states that a program can end in."""

NATIVE = "native"
BRIDGE = "bridge"
KEPT = "bridge, config kept"
REFUSED = "refused"
