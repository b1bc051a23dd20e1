"""Whatever config program is migrated: the output parses, stays as it is, and sets the same."""

from __future__ import annotations

import ast
import re
from typing import Any

from hypothesis import HealthCheck, given, note, settings

from tests.properties import fake_tensorflow
from tests.properties.programs import programs
from tests.support.migration import after, migrated, run


def sessions(code: str) -> list[dict[str, Any]]:
    return fake_tensorflow.run(code)


# What a session may have that was not given to it, where another one of the program has it: memory
# that grows, and soft placement where nothing names a device, as in all of these programs.
_HARMLESS = ("growth", "soft")


def same(new: list[dict[str, Any]], old: list[dict[str, Any]]) -> bool:
    """Whether the sessions of two programs are configured alike."""
    taken = {name for name in _HARMLESS if any(one[name] for one in old)}
    return len(new) == len(old) and all(
        one[name] == other[name] or (name in taken and one[name])
        for one, other in zip(new, old)
        for name in one.keys() | other.keys()
    )


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_same_configuration(code: str) -> None:
    result = run(code, bridge=True)
    text = after(result, code)
    note(text)
    ast.parse(text)
    assert migrated(text, bridge=True)[0] == text
    assert "device(" not in code
    assert same(sessions(text), sessions(code))
    assert sum(result.sites.values()) == len(re.findall(r"ConfigProto\(", code)) or (
        "else:" in code and sum(result.sites.values()) == 1
    )
    assert code.count("#") <= text.count("#"), "a comment is lost"
    assert ("\r\n" in code) == ("\r\n" in text)
    assert not re.search(r"(?<!\r)\n", text) or "\r\n" not in text


def test_the_fake_sees_a_lost_option() -> None:
    """The check can fail: each of these differs from its TF1 form."""
    before = "import tensorflow as tf\nc = tf.ConfigProto({})\ntf.Session(config=c)\n"
    start = "import tensorflow.compat.v1 as tf\n"
    plain = sessions(start + "tf.Session()\n")
    for fields in (
        "allow_soft_placement=True",
        "log_device_placement=True",
        "intra_op_parallelism_threads=3",
        "gpu_options=tf.GPUOptions(allow_growth=True)",
        "gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.5)",
        "gpu_options=tf.GPUOptions(visible_device_list='1')",
        "device_count={'CPU': 2}",
    ):
        code = before.format(fields)
        assert sessions(code) != plain, fields
        assert not same(plain, sessions(code)), fields
        assert sessions(migrated(code, bridge=True)[0]) == sessions(code)
    late = start + "tf.Session()\ntf.config.set_soft_device_placement(True)\n"
    assert sessions(late) != sessions(before.format("allow_soft_placement=True"))
