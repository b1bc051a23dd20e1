"""Sparse tensors that are fed or fetched: what is not seen to be one, or to be none, stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import changed, migrated, run, said

SPEECH = Path(__file__).parents[4].joinpath("fixtures/session/ctc_script/before.py").read_text()
FETCH = "d = session.run(decoded[0], feed_dict=feed)"
PRINT = "    print(np.asarray(d[1]).tolist(), d.indices.tolist(), d.dense_shape.tolist())\n"


def test_a_sparse_value_is_what_a_session_gave() -> None:
    text, _ = migrated(SPEECH, native_sessions=True)
    assert "d = sparse_value(evaluate(**feed))" in text
    assert '"targets": sparse_tensor(sparse_tuple_from(sentences), tf.int32)' in text


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (FETCH, "d, _ = session.run([decoded[0], loss], feed)", "is fetched in a list"),
        (
            FETCH,
            "d = session.run(tf.sparse_add(decoded[0], decoded[0]), feed)",
            "`tf.sparse_add` is not among the functions that are known",
        ),
        (FETCH, "d = session.run(decoded, feed)[0]", "may be a sparse tensor"),
        (
            "loss = tf.nn.ctc_loss(targets, logits, seq_len)",
            "loss = tf.nn.ctc_loss(targets, logits, seq_len, ctc_merge_repeated=False)",
            "`ctc_merge_repeated`",
        ),
    ],
)
def test_others_stay(old: str, new: str, reason: str) -> None:
    result = run(changed(SPEECH, (old, new), (PRINT, "")), bridge=True, native_sessions=True)
    assert result.programs[0].state == "bridge"
    assert any(reason in one for one in said(result)), said(result)
