"""What rounding does to a variable that is one number is measured as that of any other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

numpy = pytest.importorskip("numpy")

from migrate_mgpu.parity.compare import rounding  # noqa: E402


def side(value: float) -> SimpleNamespace:
    known = {"name": "w", "shape": [], "dtype": "float32", "model": 0}
    arrays = {f"{kind}/0": numpy.float32(value) for kind in rounding.KINDS}
    return SimpleNamespace(training={"variables": [known]}, load_arrays=lambda: arrays)


@pytest.mark.parametrize(("value", "apart"), [(1.5, 0.5), (float("nan"), 0.0)])
def test_one_number(value, apart):
    found = {}
    rounding._arrays(side(1.0), side(value), found)
    assert {key: float(one) for key, one in found.items()} == {
        f"{kind}/0": rounding.FACTOR * apart for kind in rounding.KINDS
    }
