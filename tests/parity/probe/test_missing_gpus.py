"""Strategies on GPUs that the machine of a comparison does not have."""

from __future__ import annotations

import pytest

from migrate_mgpu.parity.probe.fake_gpus import _check_there


def test_a_missing_gpu_is_told() -> None:
    with pytest.raises(ValueError, match="names /gpu:1, and --devices gives the program 1"):
        _check_there(["/gpu:0", "/gpu:1"], 1)
    with pytest.raises(ValueError, match="names /job:localhost/device:GPU:2"):
        _check_there(["/job:localhost/device:GPU:2"], 2)


def test_what_is_there() -> None:
    _check_there(["/gpu:0", "/gpu:1", "/cpu:0", "/device:CPU:3"], 2)
