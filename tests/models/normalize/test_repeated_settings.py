"""Settings that a module gives a name twice."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.project import Project
from migrate_mgpu.models.normalize.sessions import repeated_settings
from migrate_mgpu.source.source import splice

PROGRAM = """\
import argparse
import tensorflow as tf
sess = tf.Session()
SETTINGS = argparse.ArgumentParser().parse_args()
NUM_POINT = SETTINGS.points
BATCH = 3
NUM_POINT = SETTINGS.points


def train():
    return NUM_POINT * BATCH
"""


def rewritten(text: str) -> str:
    project = Project([("train.py", text.encode())])
    (module,) = project.modules.values()
    return splice(text, repeated_settings.normalize(module, [module]))


def test_the_second_one_goes() -> None:
    assert rewritten(PROGRAM) == PROGRAM.replace(
        "BATCH = 3\nNUM_POINT = SETTINGS.points\n", "BATCH = 3\n"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("BATCH = 3\nNUM_POINT = SETTINGS.points", "BATCH = 3\nNUM_POINT = SETTINGS.point"),
        ("BATCH = 3", "SETTINGS.points = 5"),
        ("BATCH = 3", "setattr(SETTINGS, 'points', 5)"),
        ("BATCH = 3", "SETTINGS = None"),
        ("BATCH = 3", "NUM_POINT += 1"),
        ("    return", "    global NUM_POINT\n    NUM_POINT = 4\n    return"),
        ("= SETTINGS.points", "= int(SETTINGS.points)"),
    ],
)
def test_what_changes_stays(old: str, new: str) -> None:
    text = PROGRAM.replace(old, new)
    assert text != PROGRAM
    assert rewritten(text) == text
