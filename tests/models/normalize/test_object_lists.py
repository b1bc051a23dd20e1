"""Variables of one of several objects, asked for by the name of its scope: what stays, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.front.session.test_writing import native
from tests.support.migration import changed, run, said

FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "session"
PROGRAM = (FOLDER / "copied_by_scope" / "before.py").read_text()
SCOPE = "        with tf.variable_scope(self.scope):\n"
LATE = 'late = Network(sess, 3, 2, name="late")'
ALL = "`tf.get_collection` is about all of them"
OPS = 'copy_ops(dest_scope_name="late", src_scope_name="online")'
HIDDEN = "            hidden = tf.layers.dense(self.state, units, activation=tf.nn.tanh)\n"
GOAL = "            self.goal = "
PREDICTS = "        return self.session.run(self.values, feed_dict={self.state: state})"
OTHER = "return self.session.run(self.other, feed_dict={self.state: state})"
KEPT = "        self._build()\n"
COLLECTED = "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=self.scope)"

# What is changed, and what the finding says then.
STAYS = {
    # TF1 compares the beginnings of names: those of the other object are among them.
    "a name begins with the other one's": (
        [(LATE, LATE.replace('"late"', '"online_2"')), ('name="late"', 'name="online_2"')],
        ALL,
    ),
    "both objects have one name": ([(LATE, LATE.replace('"late"', '"online"'))], ALL),
    "a name is computed": ([(LATE, LATE.replace('"late"', '"la" + str(len([0]))'))], ALL),
    # Its variables are called `outer/late/...`, and none begins with `late`.
    "an object is made in a scope": (
        [(LATE, f'with tf.variable_scope("outer"):\n            {LATE}')],
        ALL,
    ),
    "a variable of others is called so": (
        [
            (
                "        all_at_once",
                '        free = tf.Variable(1.0, name="late_rate")\n'
                "        print(free.shape)\n        all_at_once",
            )
        ],
        "`tf.get_collection` is about all of them",
    ),
    "objects are made in turn": (
        [(LATE, f"for turn in range(2):\n            {LATE}")],
        ALL,
    ),
    "a variable is outside of the scope": (
        [
            (SCOPE, f"        free = tf.Variable(1.0)\n{SCOPE}"),
            ("self.values = ", "self.values = free * "),
        ],
        "`free` is not in the scope of its object",
    ),
    "it is asked for before the object is made": (
        [
            (f"        all_at_once = {OPS}\n", ""),
            ("        online = Net", f"        all_at_once = {OPS}\n        online = Net"),
        ],
        ALL,
    ),
    "the function is called with other scopes": (
        [(OPS, OPS.replace('"online"', '"nothing"'))],
        ALL,
    ),
    # It has no variables at the end of the constructor, and is applied later.
    "a layer that is applied is not trained": (
        [
            (GOAL, f"            self.other = tf.layers.dense(hidden, 4)\n{GOAL}"),
            (PREDICTS, f"{PREDICTS}\n\n    def more(self, state):\n        {OTHER}"),
            (LATE, f"{LATE}\n        print(late.more(np.ones([1, 3])))"),
        ],
        "the variables of a layer are listed that no training step applies",
    ),
    "the name is used for more": (
        [("    op_holder = []", "    print(dest_scope_name)\n    op_holder = []")],
        ALL,
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_it_stays(case: str) -> None:
    pairs, reason = STAYS[case]
    result = run(changed(PROGRAM, *pairs), bridge=True, native_sessions=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in one and reason in one for one in said(result)), said(result)


def test_a_list_of_the_authors() -> None:
    """The author's may be made before the last variable: others get one of all."""
    some = f"{HIDDEN}            self.some = tf.trainable_variables(self.scope)\n"
    after = native(changed(PROGRAM, (HIDDEN, some)))
    assert "zip(dest.variables, src.variables)" in after
    assert "self.variables = trained_variables" in after
    assert "self.some" not in after  # which nothing reads


def test_a_list_of_the_authors_that_is_read() -> None:
    kept = f"{KEPT}        self.weights = {COLLECTED}\n"
    copied = "zip(late.weights, online.weights):\n            sess.run(p.assign(q))\n"
    loop = f"        for p, q in {copied}\n        for step"
    after = native(changed(PROGRAM, (KEPT, kept), ("        for step", loop)))
    assert "self.weights = trained_variables" in after


def test_a_list_in_front_of_the_optimizer() -> None:
    """The optimizer has no list yet where the author asks: the object gets it at the end."""
    asked = f"            self.weights = {COLLECTED}\n{GOAL}"
    copied = "zip(late.weights, online.weights):\n            sess.run(p.assign(q))\n"
    loop = f"        for p, q in {copied}\n        for step"
    after = native(changed(PROGRAM, (GOAL, asked), ("        for step", loop)))
    assert after.index("self.weights = ") > after.index("def train_step")


def test_a_list_with_a_layer_that_is_not_applied() -> None:
    idle = f"            idle = tf.layers.dense(hidden, 4)\n{GOAL}"
    after = native(changed(PROGRAM, (GOAL, idle)))
    assert "idle_layer = tf.keras.layers.Dense(4)" in after
    assert "*idle_layer.trainable_variables]" in after


def test_parameters_with_defaults() -> None:
    """A default is the name of a scope too: no call needs it."""
    pairs = (
        (
            "*, dest_scope_name: str, src_scope_name: str",
            'dest_scope_name="late", src_scope_name="online"',
        ),
    )
    assert "def copy_ops(dest, src):" in native(changed(PROGRAM, *pairs))


def test_a_name_that_python_has() -> None:
    text = PROGRAM.replace("src_scope_name", "from_scope")
    assert "def copy_ops(*, dest: Network, from_scope: Network):" in native(text)
