"""Target networks: variables that get the values of others, and what of that stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

SESSIONS = Path(__file__).parents[4] / "fixtures" / "session"
HARD = (SESSIONS / "target_network" / "before.py").read_text()
SOFT = (SESSIONS / "soft_target" / "before.py").read_text()
COPY = "[tf.assign(t, e) for t, e in zip(target, evaluated)]"


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def test_variables_of_layers_that_train_nothing_are_among_them() -> None:
    after = native(SOFT)
    assert "slow_params = [slow_w1, slow_b1, *slow_v_layer.variables]" in after
    assert "old.assign((1 - TAU) * old + TAU * new)" in after


def test_a_group_and_a_method_of_the_variable() -> None:
    after = native(
        changed(HARD, COPY, "tf.group(*[t.assign(e) for t, e in zip(target, evaluated)])")
    )
    assert "for t, e in zip(target, evaluated):\n                t.assign(e)\n" in after


def test_lists_may_be_written_where_they_are_copied() -> None:
    asked = "tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope='%s')"
    text = changed(
        HARD, "zip(target, evaluated)", f"zip({asked % 'target_net'}, {asked % 'eval_net'})"
    )
    after = native(text)
    assert "zip([*t1_layer.variables, *t2.variables], [*e1_layer.variables, *q.variables])" in after


UNKNOWN = "which variables get the values of which cannot be determined"
STAYS = {
    "lists of different lengths": (changed(HARD, "t2')", "t2', use_bias=False)"), UNKNOWN),
    "both have slots behind them": (changed(HARD, "tf.stop_gradient", "tf.identity"), UNKNOWN),
    "a variable gives its own value": (
        changed(HARD, "scope='eval_net'", "scope='target_net'"),
        "a variable gets a value, and gives its own",
    ),
    "no variable has such a name": (
        changed(HARD, "scope='eval_net'", "scope='other'"),
        "no variable is seen whose name begins with `other`",
    ),
    "a part of the graph goes in": (
        changed(HARD, "tf.assign(t, e)", "tf.assign(t, e * self.loss)"),
        "what the variables get is more than values of others",
    ),
    "the values are read": (
        changed(
            HARD, "self.sess.run(self.replace_target)", "print(self.sess.run(self.replace_target))"
        ),
        "the value that variables are given is read",
    ),
    "with the step that trains": (
        changed(SOFT, "[train_op, loss]", "[train_op, loss, follow]").replace(
            "_, value =", "_, value, _ ="
        ),
        "TF1 may compute it before or after the variables change",
    ),
    "slots of an optimizer between": (
        changed(
            SOFT,
            "# the slow copy",
            "with tf.variable_scope('critic'):\n"
            "    more = tf.get_variable('more', [2])\n# the slow copy",
        ).replace("tf.GraphKeys.TRAINABLE_VARIABLES", "tf.GraphKeys.GLOBAL_VARIABLES"),
        "slots of an optimizer are between these variables",
    ),
    "with averages of batch normalization": (
        changed(
            SOFT,
            "slow_v = tf.layers.dense(slow_hidden",
            "slow_v = tf.layers.dense(tf.layers.batch_normalization(slow_hidden)",
        ),
        "all variables of a scope, with averages or metrics among them",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_it_stays(name: str) -> None:
    text, why = STAYS[name]
    assert any(why in one for one in said(run(text, bridge=True, native_sessions=True)))
    with pytest.raises(AssertionError):
        native(text)


def test_rows_of_a_layers_value_have_a_dense_gradient() -> None:
    assert "tf.gather_nd(params=q_eval" in native(HARD)
    through = changed(HARD, "params=self.q_eval", "params=tf.identity(self.q_eval)")
    assert "OwnRows" not in native(HARD)
    assert "TableRMSProp(" in native(through)


LIMITED = (SESSIONS / "clipped_weights" / "before.py").read_text()
TOGETHER = changed(LIMITED, "[d_step, d_loss]", "[d_step, d_loss, clip_d]").replace(
    "_, value =", "_, value, _ ="
)


def test_weights_that_a_step_trains_are_limited_behind_it() -> None:
    result = run(TOGETHER, native_sessions=True)
    assert [one.state for one in result.programs] == ["native"], said(result)
    after = native(TOGETHER)
    step = after[after.index("def d_step_step(") :]
    assert step.index("apply_gradients") < step.index("p.assign") < step.index("return d_loss")
    assert sum("TF1 limits these variables" in one for one in said(result)) == 1
    assert not any("is of before" in one for one in said(result))


def test_nothing_is_told_of_limits_in_steps_of_their_own() -> None:
    assert not any("limits" in one for one in said(run(LIMITED, native_sessions=True)))


NOT_LIMITED = {
    "slots among them": (
        changed(
            changed(LIMITED, "for v in of_length", "for v in every"),
            "clip_length =",
            "every = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, 'length')\nclip_length =",
        ),
        UNKNOWN,
    ),
    "a step of what others train": (
        changed(LIMITED, "[g_step, g_loss]", "[g_step, g_loss, clip_d]").replace(
            "_, of_g =", "_, of_g, _ ="
        ),
        "`w1` is assigned and used in one step",
    ),
    "one of them twice": (
        changed(LIMITED, "for p in theta_d", "for p in theta_d + theta_d"),
        "a variable is limited twice",
    ),
    "another part of the graph": (
        changed(LIMITED, "-limit, limit)", "-limit, g_loss)"),
        "what the variables get is more than values of others",
    ),
}


@pytest.mark.parametrize(("text", "reason"), NOT_LIMITED.values(), ids=NOT_LIMITED)
def test_limits_that_stay(text: str, reason: str) -> None:
    result = run(text, bridge=True, native_sessions=True)
    assert any(reason in one for one in said(result)), said(result)
