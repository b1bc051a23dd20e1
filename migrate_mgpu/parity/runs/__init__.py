"""Running programs under the probe: on what devices, within what limits, and what they leave."""
