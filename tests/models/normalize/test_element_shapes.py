"""Sizes of variables that what a dataset gives says: what stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "sized_batches" / "before.py").read_text()

STAYS = {
    "the branches give different sizes": [
        ("tf.image.random_brightness(picture, max_delta=20)",
         "tf.image.resize_image_with_crop_or_pad(picture, 6, 6)")
    ],
    "the pictures are as large as they are": [
        ("[1, SIDE, SIDE])\n    picture = tf.cast", "[1, -1, SIDE])\n    picture = tf.cast"),
        ("    picture = tf.image.resize_image_with_crop_or_pad(picture, CROP, CROP)\n", "")
    ],
    "the number of pictures is computed": [("[size, -1])", "[tf.shape(normed)[0], -1])")],
}  # fmt: skip


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    result = run(changed(PROGRAM, *STAYS[case]), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("size or setting depends on the tensor" in one for one in said(result)), said(result)


def test_networks_of_other_sizes_share_no_weights() -> None:
    pairs = [("CROP, CROP)", "CROP if training else 6, CROP)")]
    pairs += [("def read_picture(names", "def read_picture(names, training")]
    pairs += [("read_picture(queue)", "read_picture(queue, training)")]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)


def test_the_sizes_follow_the_crop() -> None:
    text, _ = migrated(
        changed(PROGRAM, ("LENGTH =", "CROP = 6\nLENGTH =")).replace(
            "SIDE, CROP, KINDS = 10, 8, 4", "SIDE, KINDS = 10, 4"
        ),
        native_sessions=True,
    )
    assert "width = 36" in text
