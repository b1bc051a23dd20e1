"""Variables made by hand: weights of the model, or refused with what Keras cannot do."""

from __future__ import annotations

import pytest

from tests.models.normalize.restated import HEAD, TAIL, whole
from tests.support.migration import migrated, stays

MODEL = """\
def model_fn(features, labels, mode):
{body}
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.{optimizer}
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {{"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


estimator = tf.estimator.Estimator(model_fn)
"""
ADAM = "AdamOptimizer(0.1)"


def program(body: str, optimizer: str = ADAM) -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return HEAD + MODEL.format(body=lines, optimizer=optimizer) + TAIL


def converted(body: str, optimizer: str = ADAM) -> str:
    after, said = migrated(whole(program(body, optimizer)))
    assert not any("the Estimator stays" in message for message in said), said
    return after


@pytest.mark.parametrize(
    ("made", "weight"),
    [
        ('tf.get_variable("w", [4, 3])', 'name="w", shape=[4, 3]'),
        ('tf.get_variable("w", shape=(4, 3), dtype=tf.float32)', 'name="w", shape=(4, 3)'),
        ('tf.get_variable("a/w", [4, 3], trainable=False)', "shape=[4, 3], trainable=False"),
        ("tf.Variable(tf.zeros([4, 3]))", 'shape=[4, 3], initializer="zeros"'),
        (
            "tf.Variable(tf.truncated_normal([4, 3]))",
            "shape=[4, 3], initializer=tf.keras.initializers.TruncatedNormal(stddev=1.0)",
        ),
        (
            "tf.Variable(initial_value=tf.random_uniform([4, 3], -1.0, 1.0, seed=3))",
            "shape=[4, 3],\n            initializer=tf.keras.initializers.RandomUniform("
            "minval=-1.0, maxval=1.0, seed=3)",
        ),
        (
            "tf.Variable(tf.constant(0.5, shape=[4, 3]))",
            "shape=[4, 3], initializer=tf.keras.initializers.Constant(0.5)",
        ),
        (
            'tf.get_variable("w", initializer=tf.ones([4, 3]))',
            'name="w", shape=[4, 3], initializer="ones"',
        ),
        (
            'tf.get_variable(initializer=tf.random_normal(shape=[4, 3], stddev=0.1), name="w")',
            "self.add_weight(\n            shape=[4, 3], "
            'initializer=tf.keras.initializers.RandomNormal(stddev=0.1), name="w"',
        ),
    ],
)
def test_a_weight_of_the_model(made: str, weight: str) -> None:
    after = converted(f"w = {made}\nlogits = tf.matmul(features, w)")
    assert "".join(weight.split()) in "".join(after.split()), after
    assert "logits = tf.matmul(features, self.w)\n" in after
    assert "        w = " not in after


def test_a_scalar() -> None:
    after = converted("s = tf.Variable(2.0)\nlogits = s * tf.layers.dense(features, 3)")
    made = 'self.add_weight(name="s",initializer=tf.keras.initializers.Constant(2.0),shape=())'
    assert made in "".join(after.split())


def test_a_variable_that_the_loss_looks_at() -> None:
    text = program('w = tf.get_variable("w", [4, 3])\nlogits = tf.matmul(features, w)')
    after, said = migrated(
        whole(text.replace("(labels, logits)\n", "(labels, logits) + tf.nn.l2_loss(w)\n", 1))
    )
    assert "+ tf.nn.l2_loss(self.w)\n" in after, said
    assert "        return logits\n" in after


def test_what_is_made_of_a_variable_is_made_in_each_call() -> None:
    body = 'w = tf.get_variable("w", [4, 3])\nshort = 0.5 * w\nlogits = tf.matmul(features, short)'
    assert "        short = 0.5 * self.w\n" in converted(body).partition("def call")[2]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ('w = tf.get_variable("w", [features.shape[1], 3])', "depends on the tensor"),
        ('w = tf.get_variable("w", [4, 3], dtype=tf.float16)', "not float32"),
        (
            'w = tf.cast(tf.get_variable("w", [4, 3], dtype=tf.float64), tf.float32)\n'
            'w = w * tf.get_variable("v", [4, 3])',
            "beside others",
        ),
        (
            'v = tf.get_variable("v", [4, 3], dtype=tf.float64)\n'
            "w = tf.cast(v, tf.float32)\nfeatures = tf.layers.dense(features, 4)",
            "beside others",
        ),
        ("w = tf.Variable(tf.zeros([4, 3], dtype=tf.float64))", "a value of float64"),
        ('w = tf.get_variable("w", initializer=tf.ones_like(features))', "without a shape"),
        ('w = tf.get_variable("w", [4, 3], initializer=tf.ones([4, 3]))', "begins with"),
        (
            'w = tf.get_variable("w", [4, 3], initializer=np.ones)',
            "begins with cannot be determined",
        ),
        ('w = tf.get_variable("w", [4, 3], collections=["own"])', "`collections`"),
        ("w = tf.Variable(np.ones([4, 3], np.float32))", "begins with cannot be determined"),
        ("w = tf.Variable(tf.ones([4, 3]) / 2)", "begins with cannot be determined"),
        ("w = tf.Variable(3)", "begins with cannot be determined"),
        (
            'w = tf.get_variable("w", [4, 3])\nw = w.assign(w * 2)',
            "of a variable",
        ),
        (
            'with tf.variable_scope("a", reuse=True):\n    w = tf.get_variable("w", [4, 3])',
            "shared by `reuse`",
        ),
    ],
)
def test_a_variable_that_keras_has_not(body: str, reason: str) -> None:
    text = program(f"{body}\nlogits = tf.matmul(features, w)")
    stays(whole(text), reason)


LOOKUP = """\
rows = tf.get_variable("rows", [10, 3])
logits = tf.nn.embedding_lookup(rows, tf.to_int32(features[:, 0]))"""


@pytest.mark.parametrize(
    ("optimizer", "stays"),
    [
        (ADAM, False),
        ("AdagradOptimizer(0.1)", False),
        ("MomentumOptimizer(0.1, 0.9)", True),
        ("RMSPropOptimizer(0.1)", True),
        ("FtrlOptimizer(0.1)", True),
    ],
)
@pytest.mark.parametrize(
    "body",
    [
        LOOKUP,
        LOOKUP.replace("nn.embedding_lookup", "gather"),
        "net = tf.keras.layers.Embedding(10, 4)(features[:, 0])\nlogits = tf.layers.dense(net, 3)",
    ],
)
def test_rows_that_a_step_does_not_look_up(body: str, optimizer: str, stays: bool) -> None:
    text = program(body, optimizer)
    after, said = migrated(whole(text))
    assert (after == text) is stays, said
    assert any(" rows " in message for message in said) is stays, said


@pytest.mark.parametrize(
    ("optimizer", "sums"), [(ADAM, True), ("GradientDescentOptimizer(0.1)", False)]
)
@pytest.mark.parametrize(
    "body",
    [
        LOOKUP,
        "model = tf.keras.Sequential([tf.keras.layers.Embedding(10, 4)])\n"
        "net = model(features[:, 0])\nlogits = tf.layers.dense(net, 3)",
    ],
)
def test_rows_that_are_looked_up_several_times(body: str, optimizer: str, sums: bool) -> None:
    """Keras 3 squares each gradient of a row; a sum of steps is the step of the sum for others."""
    config = "config=tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())"
    text = program(body, optimizer).replace("Estimator(model_fn", f"Estimator(model_fn, {config}")
    for one in (text, text.replace(f", {config}", "")):
        after, said = migrated(whole(one))
        assert "Estimator(" not in after, said
        assert ("tf.convert_to_tensor(g) for g in gradients" in after) is sums


def test_a_table_that_is_handed_on_may_be_looked_up() -> None:
    body = "table = tf.get_variable('table', [10, 4])\nnet = rows(table, features)\n"
    text = program(body + "logits = tf.layers.dense(net, 3)")
    function = "def rows(table, ids):\n    return tf.gather(table, tf.cast(ids[:, 0], tf.int64))\n"
    after, said = migrated(whole(text.replace("def model_fn", f"{function}\n\ndef model_fn", 1)))
    assert "tf.convert_to_tensor(g) for g in gradients" in after, said


@pytest.mark.parametrize(
    ("old", "new", "clipped"),
    [
        ("", "", "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n"),
        (
            "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)",
            "gradients = [tf.clip_by_norm(one, 2.0) for one in gradients]",
            "[None if g is None else tf.clip_by_norm(g, 2.0) for g in gradients]\n",
        ),
        (
            "gradients, _ = tf.clip_by_global_norm(gradients, 1.0)",
            "gradients = [tf.clip_by_value(one, -2.0, 2.0) for one in gradients]",
            "[None if g is None else tf.clip_by_value(g, -2.0, 2.0) for g in gradients]\n",
        ),
    ],
)
def test_looked_up_rows_are_clipped_one_by_one(old: str, new: str, clipped: str) -> None:
    text = program(LOOKUP).replace(
        "    train_op = optimizer.minimize(loss, tf.train.get_global_step())\n",
        "    gradients, variables = zip(*optimizer.compute_gradients(loss))\n"
        "    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)\n    train_op = optimizer."
        "apply_gradients(zip(gradients, variables), tf.train.get_global_step())\n",
    )
    after, said = migrated(whole(text.replace(old, new)))
    assert clipped in after, said
    assert after.index(clipped) < after.index("tf.convert_to_tensor(g)")
    config = "config=tf.estimator.RunConfig(train_distribute=tf.distribute.MirroredStrategy())"
    several = text.replace("Estimator(model_fn", f"Estimator(model_fn, {config}")
    stays(whole(several.replace(old, new)), "looked up rows are clipped")


AUTO = 'with tf.variable_scope("a", reuse=tf.AUTO_REUSE):\n'
HELPER = """\
def fully(x, name):
    return tf.layers.dense(x, 3, name=name)


"""


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ('tf.get_variable("w", [4, 3])', 'tf.get_variable("w", [4, 3])', True),
        ('tf.get_variable("w", [4, 3])', 'tf.get_variable("v", [4, 3])', False),
        ('tf.layers.dense(features, 3, name="w")', 'tf.layers.dense(features, 3, name="w")', True),
        ("tf.layers.dense(features, 3)", "tf.layers.dense(features, 3)", False),
        ('fully(features, "a")', 'fully(features, "a")', True),
        ('fully(features, "a")', 'fully(features, "b")', False),
    ],
)
def test_names_shared_by_auto_reuse_stay(first: str, second: str, stays: bool) -> None:
    body = f"{AUTO}    w = {first}\n    v = {second}\n"
    body += "logits = tf.matmul(features, w + v)" if "get_" in first else "logits = w + v"
    text = program(body)
    if "fully" in body:
        text = text.replace("def model_fn", f"{HELPER}def model_fn")
    after, said = migrated(whole(text))
    assert (after == text) is stays, said
    assert any("shared by AUTO_REUSE" in message for message in said) is stays, said


@pytest.mark.parametrize("again", [f"{AUTO}    v = tf.layers.dense(w, 3)\n", ""])
def test_a_scope_that_is_opened_again_shares_what_has_no_name(again: str) -> None:
    body = f"{AUTO}    w = tf.layers.dense(features, 3)\n{again}logits = {'v' if again else 'w'}"
    after, said = migrated(whole(program(body)))
    assert (after == program(body)) is bool(again), said


MAKER = """\
def weight_variable(shape, stddev=0.1):
    initial = tf.truncated_normal(shape, stddev=stddev)
    return tf.Variable(initial)


"""


def with_maker(body: str, maker: str = MAKER) -> str:
    return program(body).replace("def model_fn", f"{maker}def model_fn")


def test_functions_that_make_variables_are_what_they_return() -> None:
    body = "w = weight_variable([4, 8])\nv = weight_variable([8, 3], stddev=0.2)\n"
    after, said = migrated(
        whole(with_maker(f"{body}logits = tf.matmul(tf.matmul(features, w), v)"))
    )
    assert "weight_variable" not in after, said
    text = "".join(after.split())
    for name, shape, stddev in (("w", "4,8", "0.1"), ("v", "8,3", "0.2")):
        made = f"initializer=tf.keras.initializers.TruncatedNormal(stddev={stddev})"
        assert f'self.add_weight(name="{name}",shape=[{shape}],{made}' in text


@pytest.mark.parametrize(
    ("maker", "body"),
    [
        (MAKER.replace("    return", "    tf.add_to_collection('w', initial)\n    return"), ""),
        (MAKER.replace("    return", "    print(shape)\n    return"), ""),
        (MAKER.replace("stddev=0.1", "*stddev"), ""),
        (MAKER, "made = list(map(weight_variable, [[4, 3]]))\n"),
        (MAKER.replace("return tf.Variable(initial)", "return 0.5 * tf.Variable(initial)"), ""),
        (MAKER.replace("tf.Variable(initial)", "tf.Variable(initial * 2)"), ""),
        (MAKER, "shape = weight_variable([4, 3] if params else [4])\n"),
    ],
)
def test_functions_that_do_more_stay(maker: str, body: str) -> None:
    text = with_maker(f"{body}w = weight_variable([4, 3])\nlogits = tf.matmul(features, w)", maker)
    reason = (
        "takes `*`" if "*stddev" in maker else "what this variable begins with cannot be determined"
    )
    stays(whole(text), reason)


def test_a_mode_that_gives_no_spec_is_none_of_the_models() -> None:
    text = program("logits = tf.layers.dense(features, 3)")
    spec = "    if mode != tf.estimator.ModeKeys.PREDICT:\n        spec = tf.est"
    text = text.replace("    return tf.est", spec)
    text = text.replace("\n\n\nestimator =", "\n    return spec\n\n\nestimator =")
    after, said = migrated(whole(text))
    assert "tf.keras.Sequential([tf.keras.layers.Dense(3)])" in after, said


LINEAR = """\
def linear(x, kernel, stddev):
    w = tf.get_variable("w", initializer=tf.truncated_normal(kernel, stddev=0.1))
    b = tf.get_variable("b", initializer=0.5)
    return tf.matmul(x, w) + b


"""


def test_a_shape_that_a_function_is_given() -> None:
    calls = 'with tf.variable_scope("a"):\n    net = linear(features, [4, 8], 0.1)\n'
    calls += 'with tf.variable_scope("b"):\n    logits = linear(net, (8, 3), 0.2)\n'
    text = program(calls).replace("def model_fn", LINEAR + "def model_fn")
    after, said = migrated(whole(text))
    assert "    def __init__(self, kernel):\n" in after, said
    assert "self.w = self.add_weight(" in after and "shape=kernel," in after
    assert "initializer=tf.keras.initializers.Constant(0.5), shape=()" in after
    changed = text.replace("    w = tf.get", "    kernel = [4, 8]\n    w = tf.get")
    assert migrated(whole(changed.replace("[4, 8]\n    w", "kernel[:2]\n    w")))[0].count(
        "model_fn(features"
    )


def test_weights_of_float64_make_a_model_of_float64() -> None:
    body = 'w = tf.get_variable("w", [4, 3], dtype=tf.float64)\n'
    after = converted(body + "logits = tf.matmul(tf.cast(features, tf.float64), w)")
    assert 'super().__init__(dtype="float64")\n' in after
    assert '        self.w = self.add_weight(name="w", shape=[4, 3])\n' in after
    # Keras calculates the losses that it compiles in float32.
    assert "    def train_step(self, data):\n" in after
    assert "loss=" not in after.partition("model.compile(")[2].partition("\n")[0]


def test_weights_of_float64_in_a_part_of_a_network_stay() -> None:
    linear = LINEAR.replace("stddev=0.1))", "stddev=0.1), dtype=tf.float64)")
    body = "logits = tf.to_float(linear(tf.to_double(features), [4, 3], 0.1))"
    text = program(body).replace("def model_fn", linear + "def model_fn")
    stays(whole(text), "a variable whose type is not float32")
