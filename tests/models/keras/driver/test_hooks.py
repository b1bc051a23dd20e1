"""Hooks: the program's own become callbacks, others go or keep their Estimator."""

from __future__ import annotations

import textwrap

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from tests.models.keras.driver.programs import HEAD, MADE, MAKE, configured, driven, lines

MODEL = """\
def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net)
    tf.identity(loss, name='loss')
    scaled = tf.identity(2 * loss, name='scaled')
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
"""
WITH_MODEL = HEAD.replace("def model_fn(features, labels, mode, params):\n    pass\n", MODEL)
ENDLESS = "est.train(lambda: input_fn().repeat(), hooks=[Own()])\n"


def own(body: str, base: str = "tf.train.SessionRunHook") -> str:
    """A hook of the program's own."""
    return f"class Own({base}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def became(body: str, after: str = "est.train(input_fn, hooks=[Own()])\n") -> str:
    """The class after the conversion."""
    new, _ = driven(own(body) + MAKE + after, head=WITH_MODEL)
    text = new[len(WITH_MODEL) :].partition("est = ")[0]
    assert text.startswith("class Own(tf.keras.callbacks.Callback):\n")
    return textwrap.dedent(text.partition("\n")[2])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def begin(self):\n    self.n = 0",
            "def on_train_begin(self, logs=None):\n    self.n = 0",
        ),
        (
            "def after_create_session(self, session, coord=None):\n    self.n = 0",
            "def on_train_begin(self, logs=None):\n    self.n = 0",
        ),
        (
            "def begin(self):\n    self.n = 0\n\ndef after_create_session(self, s, c):\n    del s\n"
            "    self.n = 1",
            "def on_train_begin(self, logs=None):\n    self.n = 0\n"
            "    self.after_create_session()\n\n"
            "def after_create_session(self):\n    self.n = 1",
        ),
        ("def end(self, session=None):\n    pass", "def on_train_end(self, logs=None):\n    pass"),
        (
            "def before_run(self, context):  # each step\n    self.n = 2",
            "def on_train_batch_begin(self, batch, logs=None):  # each step\n    self.n = 2",
        ),
        (
            "def after_run(self, context, values):\n    batch = 1\n    print(batch)",
            "def on_train_batch_end(self, index, logs=None):\n    batch = 1\n    print(batch)",
        ),
        (
            "def after_run(self, c, v):\n    if not c.stop_requested:\n        c.request_stop()",
            "def on_train_batch_end(self, batch, logs=None):\n"
            "    if not self.model.stop_training:\n        self.model.stop_training = True",
        ),
        (
            "def end(self, session):\n    print(session.run(tf.train.get_global_step()))",
            "def on_train_end(self, logs=None):\n"
            "    print(int(self.model.optimizer.iterations.numpy()))",
        ),
        (
            'def __init__(self, n=1):\n    """Of n."""\n    self.n = n\n\n'
            "def end(self, session):\n    print(self.n)",
            'def __init__(self, n=1):\n    """Of n."""\n    super().__init__()\n    self.n = n\n\n'
            "def on_train_end(self, logs=None):\n    print(self.n)",
        ),
        (
            "def __init__(self):\n    super(Own, self).__init__()\n    self.n = 1",
            "def __init__(self):\n    super(Own, self).__init__()\n    self.n = 1",
        ),
        (
            "def before_run(self, c):\n    return tf.train.SessionRunArgs('loss:0')\n\n"
            "def after_run(self, c, v):\n    print('%.3f' % v.results)",
            "def on_train_batch_begin(self, batch, logs=None):\n"
            "    # The loss of this batch alone: Keras gives the mean of those so far.\n"
            "    self.model.reset_metrics()\n\n"
            "def on_train_batch_end(self, batch, logs=None):\n    print('%.3f' % logs['loss'])",
        ),
        (
            "def before_run(self, c):\n"
            "    return tf.train.SessionRunArgs({'step': tf.train.get_global_step()})\n\n"
            "def after_run(self, c, v):\n    print(v.results['step'])",
            "def on_train_batch_end(self, batch, logs=None):\n"
            "    print(int(self.model.optimizer.iterations.numpy()))",
        ),
        (
            "def after_run(self, c, v):\n    del c\n\ndef end(self, session):\n    print('end')",
            "def on_train_end(self, logs=None):\n    print('end')",
        ),
        (
            "def after_run(self, c, v):\n    # nothing yet\n    del c, v\n\n"
            "def end(self, s):\n    print('end')",
            "def on_train_batch_end(self, batch, logs=None):\n    # nothing yet\n    pass\n\n"
            "def on_train_end(self, logs=None):\n    print('end')",
        ),
    ],
)
def test_methods(before: str, after: str) -> None:
    assert became(before).strip() == after


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def begin(self):\n    self.x = tf.reduce_mean(1.)", "`tf.reduce_mean` in a hook"),
        ("def begin(self):\n    return\ndef after_create_session(self, s, c):\n    pass",
         "both a begin and an after_create_session"),
        ("def before_run(self, c):\n    return tf.train.SessionRunArgs('scaled:0')",
         "what this hook fetches cannot be analyzed"),
        ("def before_run(self, c):\n    return tf.train.SessionRunArgs('accuracy:0')",
         "what this hook fetches cannot be analyzed"),
        ("def before_run(self, c):\n"
         "    return tf.train.SessionRunArgs('loss:0', feed_dict={'x:0': 1})", "a hook that feeds"),
        ("def before_run(self, c):\n    if c:\n        return tf.train.SessionRunArgs('loss:0')",
         "depends on other code"),
        ("def after_run(self, c, v):\n    print(v.results)", "fetches nothing"),
        ("def after_run(self, c, v):\n    print(v.run_metadata)", "`v.run_metadata` in a hook"),
        ("def after_run(self, c, v):\n    c.session.run('x:0')", "`c.session` in a hook"),
        ("def after_run(self, c, v):\n    stop(c)", "`c` in a hook cannot be analyzed"),
        ("def end(self, session):\n    save(session)", "`session` in a hook cannot be analyzed"),
        ("def begin(self):\n    self.model = 1", "`model` of a hook is an attribute of Keras"),
        ("def on_train_end(self):\n    pass", "would be a callback's own method"),
        ("def begin(self):\n    self.end(None)", "`end` is called by hand"),
        ("def after_run(self, c, v):\n    raise StopIteration", "as if its input had ended"),
        ("def after_run(self, c, v):\n    logs = {}\n    print(logs)", "`logs` is what Keras"),
        ("def after_run(self, c):\n    pass", "takes other arguments"),
        ("def after_run(self, *args):\n    pass", "takes other arguments"),
        ("def after_run(this, c, v):\n    pass", "calls its object `this`"),
        ("def begin(self):\n    step = tf.train.get_global_step()", "where this step goes"),
    ],
)  # fmt: skip
def test_methods_that_a_callback_does_not_have(body: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        became(body)


def test_a_step_of_an_unknown_version_is_not_fetched() -> None:
    """1.15's variables gave the step after the training of it, resources that before."""
    body = """
        def before_run(self, c):
            return tf.train.SessionRunArgs(tf.compat.v1.train.get_global_step())
    """
    with pytest.raises(Refused, match="depends on the TensorFlow version"):
        became(body)


def test_fetches_under_a_strategy() -> None:
    body = own("def before_run(self, c):\n    return tf.train.SessionRunArgs('loss:0')")
    text = body + configured("tf.distribute.MirroredStrategy()") + ENDLESS
    with pytest.raises(Refused, match="sees the first replica"):
        driven(text, head=WITH_MODEL)


COUNTS = """
    def before_run(self, c):
        self.count += 1

    def end(self, session):
        print(self.count)
"""


def test_a_step_more_at_the_end_of_the_input() -> None:
    """TF1 called before_run where no batch was left, Keras does so of some inputs."""
    with pytest.raises(Refused, match="`count` counts a step more"):
        became(COUNTS)
    assert "self.count += 1" in became(COUNTS, ENDLESS)
    seen = "def before_run(self, c):\n    self.count += 1"
    with pytest.raises(Refused, match="`count` counts a step more"):
        became(seen, "hook = Own()\nest.train(input_fn, hooks=[hook])\nprint(hook.count)\n")


@pytest.mark.parametrize(
    "does", ["print('step')", "if self.n:\n    raise ValueError", "c.log()", "self.tell()"]
)
def test_what_is_done_once_more_at_the_end_of_the_input(does: str) -> None:
    body = f"def before_run(self, c):\n{textwrap.indent(does, '    ')}".replace("c.log", "X.sort")
    with pytest.raises(Refused, match="is called once more"):
        became(body)
    assert "on_train_batch_begin" in became(body, ENDLESS)
    harmless = "def before_run(self, c):\n    self.times.append(1)\n    c.request_stop()"
    assert "on_train_batch_begin" in became(harmless)


def test_another_classes_attribute_is_another_one() -> None:
    other = "\nclass Other:\n    def show(self):\n        print(self.count)\n"
    seen = own("def before_run(self, c):\n    self.count += 1")
    new = lines(f"{seen}{other}{MAKE}est.train(input_fn, hooks=[Own()])\n")
    assert "on_train_batch_begin" in new
    shown = other.replace("self", "this")
    with pytest.raises(Refused, match="`count` counts a step more"):
        lines(f"{seen}{shown}{MAKE}est.train(input_fn, hooks=[Own()])\n")


PLAIN = own("def end(self, session):\n    print('end')")
NEW = (
    "class Own(tf.keras.callbacks.Callback):\n"
    "    def on_train_end(self, logs=None):\n        print('end')\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "hook = Own()\nest.train(input_fn, hooks=[hook])\nprint(hook.seen)",
            "hook = Own()\nest.fit(input_fn(), callbacks=[hook], verbose=0)\nprint(hook.seen)",
        ),
        (
            "hooks = [Own(), Own()]\nest.train(input_fn, steps=3, hooks=hooks)",
            "hooks = [Own(), Own()]\n"
            "est.fit(input_fn(), steps_per_epoch=3, callbacks=hooks, verbose=0)",
        ),
        (
            "log = tf.train.LoggingTensorHook({'loss': 'loss'}, every_n_iter=5)\n"
            "est.train(input_fn, hooks=[log, Own()], steps=3)",
            "est.fit(input_fn(), steps_per_epoch=3, callbacks=[Own()])",
        ),
        (
            "est.train(input_fn, hooks=[Own(), tf.train.StopAtStepHook(num_steps=3)])",
            "est.fit(input_fn(), steps_per_epoch=3, callbacks=[Own()], verbose=0)",
        ),
        (
            "train_spec = tf.estimator.TrainSpec(input_fn, max_steps=9, hooks=[Own()])\n"
            "eval_spec = tf.estimator.EvalSpec(input_fn, steps=2)\n"
            "tf.estimator.train_and_evaluate(est, train_spec, eval_spec)",
            "train_dataset = input_fn()\neval_dataset = input_fn()\n"
            "est.fit(train_dataset, steps_per_epoch=9, callbacks=[Own()], verbose=0)\n"
            "est.evaluate(eval_dataset, steps=2, return_dict=True, verbose=0)",
        ),
    ],
)
def test_where_hooks_are_given(before: str, after: str) -> None:
    assert lines(f"{PLAIN}{MAKE}{before}\n") == f"{NEW}{MADE}{after}\n"


def test_a_hook_that_every_estimator_has() -> None:
    text, changes = driven(f"{MAKE}est.train(input_fn, hooks=[tf.train.NanTensorHook('loss:0')])\n")
    assert text.endswith("est.fit(input_fn(), verbose=0)\n")
    assert any("TerminateOnNaN" in note for _, _, note, _ in changes.notes)


IN_MODEL = """\
    log = tf.train.LoggingTensorHook({'loss': loss}, every_n_iter=1)
    stop = tf.train.StopAtStepHook(num_steps=COUNT)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[log, stop])
"""
STOPS = WITH_MODEL.replace(
    "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)\n", IN_MODEL
).replace("\n\ndef model_fn", "\nCOUNT = 2\n\n\ndef model_fn")


def test_the_models_own_hook_that_stops() -> None:
    text, _ = driven(f"{MAKE}est.train(input_fn)\n", head=STOPS)
    assert text.endswith("est.fit(input_fn(), steps_per_epoch=COUNT, verbose=0)\n")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("est.train(input_fn, steps=5)", "beside other numbers of steps"),
        ("est.train(input_fn, hooks=[tf.train.StopAtStepHook(5)])", "beside one of the model_fn's"),
        ("tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(input_fn, 5),\n"
         "    tf.estimator.EvalSpec(input_fn, steps=1))", "beside a TrainSpec"),
    ],
)  # fmt: skip
def test_the_models_own_hook_beside_other_steps(body: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        driven(f"{MAKE}{body}\n", head=STOPS)


def test_a_hook_of_an_evaluation() -> None:
    new = lines(f"{PLAIN}{MAKE}est.evaluate(input_fn, hooks=[Own()])\n")
    assert "def on_test_end(self, logs=None):" in new
    text = "est.evaluate(input_fn(), callbacks=[Own()], return_dict=True, verbose=0)"
    assert " ".join(new.split()).endswith(text)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("est.train(input_fn, hooks=[Own()])\nest.evaluate(input_fn, hooks=[Own()])",
         "for training and for evaluating"),
        ("p = est.predict(input_fn, hooks=[Own()])", "a hook for predicting"),
        ("hook = Own()\nest.train(input_fn, hooks=[hook])\nhook.end(None)", "used for more than"),
        ("hook = Own()\nest.train(input_fn, hooks=[hook])\nkeep(hook)", "used for more than"),
        ("est.train(input_fn, hooks=[Own()])\nprint(Own)", "used for more than"),
        ("class Next(Own):\n    pass\nest.train(input_fn, hooks=[Own()])", "used for more than"),
        ("class Next(Own):\n    pass\nest.train(input_fn, hooks=[Next()])", "more than log"),
        ("hooks = [Own()]\nhooks.append(Own())\nest.train(input_fn, hooks=hooks)", "are added"),
        ("hooks = [Own(), tf.train.StepCounterHook()]\nest.train(input_fn, hooks=hooks)",
         "which hooks these are"),
        ("hook = Own() if X.any() else tf.train.StepCounterHook()\n"
         "est.train(input_fn, hooks=[hook])", "which hook this is"),
        ("hook = Own()\nspec = tf.estimator.TrainSpec(input_fn, max_steps=9, hooks=[hook])\n"
         "hook = Own()\n"
         "tf.estimator.train_and_evaluate(est, spec, tf.estimator.EvalSpec(input_fn))",
         "may be another one where the TrainSpec is used"),
        ("est.train(input_fn, hooks=[tf.train.CheckpointSaverHook('d', save_steps=3)])",
         "`CheckpointSaverHook` is not converted"),
        ("est.train(input_fn, hooks=[tf.train.FeedFnHook(f)])", "`FeedFnHook` is not converted"),
        ("est.train(input_fn, saving_listeners=[Own()])", "a listener to the saving"),
    ],
)  # fmt: skip
def test_hooks_that_stay(body: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        lines(f"{PLAIN}{MAKE}{body}\n")


EARLY = (
    "hook = tf.estimator.experimental.make_early_stopping_hook(\n"
    "    est, lambda: X.any(), run_every_secs=None, run_every_steps=2)\n"
)
ASKED = """\


class StopEarly(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 2 == 0 and X.any():
            self.model.stop_training = True


hook = StopEarly()
"""


def test_early_stopping_by_steps() -> None:
    after = "est.fit(input_fn(), callbacks=[hook], verbose=0)\n"
    new = lines(f"{MAKE}{EARLY}est.train(input_fn, hooks=[hook])\n")
    assert new == f"{MADE}{ASKED}{after}"
    each = EARLY.replace("steps=2", "steps=1")
    assert "        if X.any():\n" in lines(f"{MAKE}{each}est.train(input_fn, hooks=[hook])\n")


def test_early_stopping_by_seconds_in_a_function() -> None:
    text = f"""\
def should_stop():
    return True
def main():
    {MAKE}    est.train(input_fn, hooks=[
        tf.contrib.estimator.make_early_stopping_hook(est, should_stop)])
main()
"""
    new, changes = driven(text)
    assert (
        new[len(HEAD) :]
        == f"""\
def should_stop():
    return True
def main():
    {MADE}
    class StopEarly(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.asked = 0

        def on_train_batch_end(self, batch, logs=None):
            if time.time() >= self.asked + 60:
                self.asked = time.time()
                if should_stop():
                    self.model.stop_training = True

    est.fit(input_fn(), callbacks=[StopEarly()], verbose=0)
main()
"""
    )
    assert {"time"} in changes.imports.values()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("lambda: X.any()", "stop()", "which function decides to stop"),
        ("lambda: X.any()", "lambda x=1: x", "which function decides to stop"),
        (", run_every_steps=2", "", "how often an early stopping asks"),
        ("run_every_secs=None", "run_every_secs=9", "how often an early stopping asks"),
        ("run_every_steps=2", "run_every_steps=X.size", "how often an early stopping asks"),
        ("lambda: X.any(), ", "", "without should_stop_fn"),
        ("hooks=[hook]", "hooks=[hook, tf.contrib.estimator.make_early_stopping_hook(est, f)]",
         "a second early stopping"),
        ("est.train", "est.train(input_fn, hooks=[hook])\nest.train", "of several trainings"),
        ("est.train(", "for i in range(3):\n    est.train(", "of several trainings"),
    ],
)  # fmt: skip
def test_early_stopping_that_stays(old: str, new: str, reason: str) -> None:
    text = f"{MAKE}{EARLY}est.train(input_fn, hooks=[hook])\n"
    assert text.count(old) == 1
    with pytest.raises(Refused, match=reason):
        lines(text.replace(old, new))


def test_early_stopping_that_reads_evaluations() -> None:
    text = "hook = tf.contrib.estimator.stop_if_no_increase_hook(est, 'accuracy', 100)\n"
    with pytest.raises(Refused, match="that this training does not have") as refused:
        lines(f"{MAKE}{text}est.train(input_fn, hooks=[hook])\n")
    assert "tf.keras.callbacks.Callback" in refused.value.diagnostic.advice
