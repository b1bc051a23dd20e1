"""TF1's probability distributions, which TF2 has not: what is written beside a program for them."""

from __future__ import annotations

from collections.abc import Mapping

from migrate_mgpu.api.schema import Definition

# What computes of a distribution, with how many arguments each takes at most.
METHODS: Mapping[str, int] = {"sample": 1, "prob": 1, "log_prob": 1, "entropy": 0}
DRAWS = ("sample",)

_ROOT = "0.9189385332046727"  # half of the logarithm of 2 pi
_NORMAL = f'''\
class {{name}}({{tf}}.experimental.ExtensionType):
    """Normal distributions, one for each element."""

    loc: {{tf}}.Tensor
    scale: {{tf}}.Tensor

    def sample(self, sample_shape=()):
        shape = {{tf}}.reshape({{tf}}.cast(sample_shape, {{tf}}.int32), [-1])
        batch = {{tf}}.broadcast_dynamic_shape({{tf}}.shape(self.loc), {{tf}}.shape(self.scale))
        drawn = {{tf}}.random.normal({{tf}}.concat([shape, batch], 0), dtype=self.loc.dtype)
        return drawn * self.scale + self.loc

    def log_prob(self, value):
        squares = {{tf}}.square((value - self.loc) / self.scale)
        return -0.5 * squares - ({_ROOT} + {{tf}}.math.log(self.scale))

    def prob(self, value):
        return {{tf}}.exp(self.log_prob(value))

    def entropy(self):
        scale = self.scale * {{tf}}.ones_like(self.loc)
        return 0.5 + {_ROOT} + {{tf}}.math.log(scale)'''
_DIVERGENCE = '''\
def {name}(distribution_a, distribution_b):
    """How far a normal distribution is from another one (Kullback-Leibler)."""
    squares = {tf}.square(distribution_b.scale)
    ratio = {tf}.square(distribution_a.scale) / squares
    distance = {tf}.math.squared_difference(distribution_a.loc, distribution_b.loc)
    return distance / (2.0 * squares) + 0.5 * (ratio - 1.0 - {tf}.math.log(ratio))'''
CLASSES = {
    f"{prefix}.Normal": (("loc", "scale"), Definition("Normal", _NORMAL))
    for prefix in ("distributions", "contrib.distributions")
}
FUNCTIONS = {
    f"{prefix}.kl_divergence": (
        ("distribution_a", "distribution_b"),
        Definition("kl_divergence", _DIVERGENCE),
    )
    for prefix in ("distributions", "contrib.distributions")
}
