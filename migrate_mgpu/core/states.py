"""The states that a program can end in."""

NATIVE = "native"
BRIDGE = "bridge"
KEPT = "bridge, config kept"
REFUSED = "refused"

# What switches bridges off.
NO_BRIDGE, NOT_SELECTED = "--no-bridge", "MGPU201 is not selected"
