"""The calls of Estimators as code that drives a Keras model."""

from __future__ import annotations

import pytest

from migrate_mgpu.analysis.diagnostics import Refused
from tests.models.keras.driver.programs import HEAD, MADE, MAKE, SCOPED, configured, driven, lines

TRAIN_AND_EVALUATE = (
    "tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(input_fn, 5),\n"
    "    tf.estimator.EvalSpec(input_fn, steps=1))"
)
FITTED = "est.fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
EVALUATED = "est.evaluate(input_fn(), steps=1, return_dict=True, verbose=0)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("est.train(input_fn, steps=5)", "est.fit(input_fn(), steps_per_epoch=5, verbose=0)"),
        (
            "est.train(input_fn=lambda: input_fn(2), max_steps=5)",
            "est.fit(input_fn(2), steps_per_epoch=5, verbose=0)",
        ),
        (
            "est.train(functools.partial(input_fn, batch_size=2), steps=5)",
            "est.fit(input_fn(batch_size=2), steps_per_epoch=5, verbose=0)",
        ),
        ("est.train(input_fn)", "est.fit(input_fn(), verbose=0)"),
        ("unread = est.train(input_fn)", "est.fit(input_fn(), verbose=0)"),
        (
            "trained = est.train(input_fn)\nprint(trained)",
            "est.fit(input_fn(), verbose=0)\ntrained = est\nprint(trained)",
        ),
        (
            "unread = tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(input_fn, 5),\n"
            "    tf.estimator.EvalSpec(input_fn, steps=1))",
            "est.fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
            "est.evaluate(input_fn(), steps=1, return_dict=True, verbose=0)",
        ),
        (
            f"r, _ = {TRAIN_AND_EVALUATE}\nprint(r['loss'])",
            f"{FITTED}r = {EVALUATED}\nprint(r['loss'])",
        ),
        (
            f"r, _ = {TRAIN_AND_EVALUATE}\nprint(r)",
            f"{FITTED}r = {EVALUATED}\n"
            "r['global_step'] = int(est.optimizer.iterations.numpy())\nprint(r)",
        ),
        (
            f"r = {TRAIN_AND_EVALUATE}\nprint(r[0]['loss'], r[0]['global_step'])",
            f"{FITTED}r = {EVALUATED}, []\n"
            "print(r[0]['loss'], int(est.optimizer.iterations.numpy()))",
        ),
        (
            f"r = {TRAIN_AND_EVALUATE}\nprint(r)",
            f"{FITTED}r = dict(\n    est.evaluate(input_fn(), steps=1, return_dict=True, "
            "verbose=0),\n    global_step=int(est.optimizer.iterations.numpy())), []\nprint(r)",
        ),
        ("est.evaluate(input_fn)", "est.evaluate(input_fn(), return_dict=True, verbose=0)"),
        (
            "est.evaluate(input_fn, steps=3, name='test')",
            "est.evaluate(input_fn(), steps=3, return_dict=True, verbose=0)",
        ),
        (
            "r = est.evaluate(input_fn)\nprint(r['loss'], r['global_step'])",
            "r = est.evaluate(input_fn(), return_dict=True, verbose=0)\n"
            "print(r['loss'], int(est.optimizer.iterations.numpy()))",
        ),
        (
            "r = est.evaluate(input_fn)\nprint('{global_step} {loss}'.format(**r))",
            "r = est.evaluate(input_fn(), return_dict=True, verbose=0)\n"
            "r['global_step'] = int(est.optimizer.iterations.numpy())\n"
            "print('{global_step} {loss}'.format(**r))",
        ),
        (
            "r = est.evaluate(input_fn)\nprint('{loss}'.format(**r))",
            "r = est.evaluate(input_fn(), return_dict=True, verbose=0)\n"
            "print('{loss}'.format(**r))",
        ),
        (
            "r = est.evaluate(input_fn)\nprint(r)",
            "r = est.evaluate(input_fn(), return_dict=True, verbose=0)\n"
            "r['global_step'] = int(est.optimizer.iterations.numpy())\nprint(r)",
        ),
        (
            "print(est.evaluate(input_fn)['global_step'])",
            "print(dict(\n"
            "    est.evaluate(input_fn(), return_dict=True, verbose=0),\n"
            "    global_step=int(est.optimizer.iterations.numpy()))['global_step'])",
        ),
        (
            "print(est.evaluate(input_fn))",
            "print(dict(\n"
            "    est.evaluate(input_fn(), return_dict=True, verbose=0),\n"
            "    global_step=int(est.optimizer.iterations.numpy())))",
        ),
        (
            "p = est.predict(input_fn)",
            "p = est.predict(input_fn(), verbose=0)\n"
            "p = [dict(zip(p, row)) for row in zip(*p.values())]",
        ),
        (
            "for p in est.predict(input_fn):\n    print(p)",
            "predictions = est.predict(input_fn(), verbose=0)\n"
            "for p in [dict(zip(predictions, row)) for row in zip(*predictions.values())]:\n"
            "    print(p)",
        ),
        (
            "p = est.predict(input_fn)\nprint(next(p))",
            "p = est.predict(input_fn(), verbose=0)\n"
            "p = iter([dict(zip(p, row)) for row in zip(*p.values())])\n"
            "print(next(p))",
        ),
        (
            "p = est.predict(input_fn)\nfor _ in range(2):\n    print(list(p))",
            "p = est.predict(input_fn(), verbose=0)\n"
            "p = iter([dict(zip(p, row)) for row in zip(*p.values())])\n"
            "for _ in range(2):\n    print(list(p))",
        ),
        (
            "next(est.predict(input_fn))",
            "predictions = est.predict(input_fn(), verbose=0)\n"
            "next(iter([dict(zip(predictions, row)) for row in zip(*predictions.values())]))",
        ),
        (
            "p = list(est.predict(input_fn, predict_keys=['x']))",
            "predictions = est.predict(input_fn(), verbose=0)\n"
            "p = list([{'x': row} for row in predictions['x']])",
        ),
        (
            "for i in range(3):\n    est.train(input_fn, steps=5)\n    est.evaluate(input_fn)",
            "for i in range(3):\n    est.fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
            "    est.evaluate(input_fn(), return_dict=True, verbose=0)",
        ),
        (
            "for i in range(3):\n    est.train(input_fn, max_steps=5 * i)",
            "for i in range(3):\n    steps = 5 * i - int(est.optimizer.iterations.numpy())\n"
            "    if steps > 0:\n        est.fit(input_fn(), steps_per_epoch=steps, verbose=0)",
        ),
        (
            "hook = tf.train.LoggingTensorHook({'loss': 'loss'}, every_n_iter=5)\n"
            "est.train(input_fn, hooks=[hook], steps=5)",
            "est.fit(input_fn(), steps_per_epoch=5)",
        ),
        (
            "train_spec = tf.estimator.TrainSpec(input_fn, max_steps=5)\n"
            "eval_spec = tf.estimator.EvalSpec(input_fn, steps=None)\n"
            "tf.estimator.train_and_evaluate(est, train_spec, eval_spec)",
            "train_dataset = input_fn()\neval_dataset = input_fn()\n"
            "est.fit(train_dataset, steps_per_epoch=5, verbose=0)\n"
            "est.evaluate(eval_dataset, return_dict=True, verbose=0)",
        ),
        (
            "tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(input_fn, 5),\n"
            "                                tf.estimator.EvalSpec(input_fn))",
            "est.fit(input_fn(), steps_per_epoch=5, verbose=0)\n"
            "est.evaluate(input_fn().take(100), return_dict=True, verbose=0)",
        ),
    ],
)
def test_without_a_strategy(before: str, after: str) -> None:
    assert lines(f"{MAKE}{before}\n") == f"{MADE}{after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "est.train(input_fn, steps=5)",
            "est.fit(\n    strategy.distribute_datasets_from_function("
            "lambda context: input_fn()),\n    steps_per_epoch=5, verbose=0)",
        ),
        (
            "est.train(input_fn)",
            "est.fit(\n    strategy.distribute_datasets_from_function("
            "lambda context: input_fn()),\n"
            "    steps_per_epoch=int(input_fn().cardinality()) // strategy.num_replicas_in_sync,\n"
            "    verbose=0)",
        ),
        ("est.evaluate(input_fn)", "est.evaluate(input_fn(), return_dict=True, verbose=0)"),
    ],
)
def test_each_replica_draws_its_own_batches(before: str, after: str) -> None:
    body = configured("tf.distribute.MirroredStrategy()")
    new = lines(f"{body}{before}\n")
    new = new.replace("input_fn()),\n    steps_per_epoch=5,\n    verbose=0)",
                      "input_fn()),\n    steps_per_epoch=5, verbose=0)")  # fmt: skip
    assert new == f"strategy = tf.distribute.MirroredStrategy()\n{SCOPED}{after}\n"


def test_the_strategy_of_a_model_that_is_used_elsewhere() -> None:
    body = """\
        def train(estimator):
            estimator.train(input_fn, steps=5)


        def main():
            strategy = tf.distribute.MirroredStrategy()
            config = tf.estimator.RunConfig(train_distribute=strategy)
            train(tf.estimator.Estimator(model_fn, config=config, params=3))
        """
    with pytest.raises(Refused, match="middle of a statement"):
        lines(body)
    body = body.replace("train(tf.", "e = tf.").replace("params=3))", "params=3)")
    new = lines(f"{body.rstrip()}\n            train(e)\n")
    assert "estimator.distribute_strategy.distribute_datasets_from_function(" in new


def test_model_dir_resumes_and_saves() -> None:
    body = (
        "est = tf.estimator.Estimator(model_fn, 'folder', params={'n': 1})\n"
        "est.train(input_fn, steps=5)\n"
    )
    new, result = driven(body)
    assert new[len(HEAD) :] == (
        MADE
        + """\
train_dataset = input_fn()
# The variables must exist before a checkpoint can be restored into them.
tf.function(est).get_concrete_function(train_dataset.element_spec[0])
est.optimizer.build(est.trainable_variables)
checkpoint = tf.train.Checkpoint(model=est)
manager = tf.train.CheckpointManager(checkpoint, 'folder', max_to_keep=5)
if manager.latest_checkpoint:
    reader = tf.train.load_checkpoint(manager.latest_checkpoint)
    if reader.has_tensor('global_step'):
        raise ValueError(
            'a TF1 checkpoint: `migrate-mgpu checkpoint` converts it')
    checkpoint.restore(manager.latest_checkpoint).assert_existing_objects_matched()
est.fit(train_dataset, steps_per_epoch=5, verbose=0)
manager.save(est.optimizer.iterations)
"""
    )
    assert any("TF1 wrote do not load" in text for _, _, text, _ in result.notes)


def test_a_folder_that_may_be_left_out() -> None:
    new, result = driven(
        """\
        parser.add_argument('--folder')
        est = tf.estimator.Estimator(model_fn, args.folder, params=1)
        for p in est.predict(input_fn):
            print(p, est.latest_checkpoint(), est.model_dir)
        """
    )
    assert "CheckpointManager(\n    checkpoint, args.folder or tempfile.mkdtemp(), max" in new
    assert "predict_dataset = input_fn()\n" in new
    assert "unpack_x_y_sample_weight(predict_dataset.element_spec)[0])" in new
    assert "print(p, manager.latest_checkpoint, manager.directory)" in new
    assert {"tempfile"} in result.imports.values()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("est.train(input_fn, hooks=[mine], steps=5)", "hook may do more"),
        ("e = est.train(input_fn, steps=5)\nsave(e)", "what `train` returns is used"),
        (f"print({TRAIN_AND_EVALUATE})", "what `train_and_evaluate` returns is used"),
        (f"a = b = {TRAIN_AND_EVALUATE}", "what `train_and_evaluate` returns is used"),
        ("est.train(load(), steps=5)", "what `load"),
        ("est.evaluate(input_fn, checkpoint_path='x')", "a checkpoint is evaluated"),
        ("est.predict(input_fn, predict_keys=['x', 'y'])", "`predict_keys`"),
        ("est.predict(input_fn, predict_keys='x')", "`predict_keys`"),
        (
            "def f():\n    x = source()\n    return x.make_initializable_iterator().get_next()\n"
            "est.train(f, steps=1)",
            "initializes",
        ),
        ("def f():\n    return X, Y\nest.train(f, steps=1)", "the tensors that"),
        (
            "def f():\n    return tf.data.Dataset.range(3).repeat()\n"
            "for p in est.predict(f, predict_keys=['p']):\n    break",
            "endless",
        ),
        (
            "tf.estimator.train_and_evaluate(est, tf.estimator.TrainSpec(input_fn, 5),\n"
            "    tf.estimator.EvalSpec(input_fn, exporters=[x]))",
            "this exporter cannot be analyzed",
        ),
    ],
)
def test_what_stands_in_the_way(body: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        lines(f"{MAKE}{body}\n")


def test_nothing_gives_the_parameters() -> None:
    with pytest.raises(Refused, match="`params`"):
        lines("est = tf.estimator.Estimator(model_fn)\n")


@pytest.mark.parametrize(("argument", "endless"), [("True", True), ("False", False)])
def test_an_end_that_an_argument_decides(argument: str, endless: bool) -> None:
    body = f"""\
        def batches(training):
            data = tf.data.Dataset.range(3)
            if training:
                data = data.repeat()
            return data


        {MAKE.strip()}
        p = est.predict(lambda: batches({argument}))
        """
    if endless:
        assert f"    for batch in batches({argument})" in lines(body)
    else:
        assert f"p = est.predict(batches({argument}), verbose=0)" in lines(body)


@pytest.mark.parametrize(
    ("every", "total", "throttle", "between"),
    [
        (5, 10, 600, True),  # after the first checkpoint, and at the end
        (5, 15, 600, False),
        (5, 15, 0, True),
        (4, 10, 0, False),
        (10, 10, 0, False),
    ],
)
def test_evaluations_while_training(every: int, total: int, throttle: int, between: bool) -> None:
    new = lines(
        f"""\
        config = tf.estimator.RunConfig(save_checkpoints_steps={every})
        est = tf.estimator.Estimator(model_fn, config=config, params=1)
        train_spec = tf.estimator.TrainSpec(input_fn, {total})
        eval_spec = tf.estimator.EvalSpec(input_fn, steps=2, throttle_secs={throttle})
        tf.estimator.train_and_evaluate(est, train_spec, eval_spec)
        """
    )
    if between:
        assert f"steps_per_epoch={every}, epochs={total // every}," in new.replace("\n    ", " ")
        assert "validation_data=eval_dataset" in new and "validation_steps=2" in new
        assert "est.evaluate(" not in new
    else:
        assert f"est.fit(train_dataset, steps_per_epoch={total}, verbose=0)" in new
        assert "est.evaluate(eval_dataset, steps=2, return_dict=True, verbose=0)" in new


def test_steps_of_each_replica() -> None:
    body = (
        "strategy = tf.distribute.MirroredStrategy()\n"
        "config = tf.estimator.RunConfig(train_distribute=strategy, eval_distribute=strategy)\n"
        "est = tf.estimator.Estimator(model_fn, config=config, params=1)\n"
        "est.evaluate(input_fn, steps=N + 1)\n"
    )
    assert "steps=(N + 1) * strategy.num_replicas_in_sync," in lines(body)


def test_several_workers_and_a_folder() -> None:
    body = configured("tf.contrib.distribute.CollectiveAllReduceStrategy()")
    assert "strategy = tf.distribute.MultiWorkerMirroredStrategy()\n" in lines(body)
    with pytest.raises(Refused, match="several workers"):
        lines(body.replace("config=config", "'folder', config") + "est.train(input_fn, steps=1)\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "est.train(input_fn, hooks=[tf.train.StopAtStepHook(num_steps=5)])",
            "est.fit(input_fn(), steps_per_epoch=5, verbose=0)",
        ),
        (
            "hook = tf.train.StopAtStepHook(last_step=5)\n"
            "est.train(input_fn, hooks=[hook, tf.train.StepCounterHook()])",
            "est.fit(input_fn(), steps_per_epoch=5)",
        ),
        (
            "for i in range(3):\n    est.train(input_fn, hooks=[tf.train.StopAtStepHook(5)])",
            "for i in range(3):\n    est.fit(input_fn(), steps_per_epoch=5, verbose=0)",
        ),
    ],
)
def test_hooks_that_stop(before: str, after: str) -> None:
    assert lines(f"{MAKE}{before}\n") == f"{MADE}{after}\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("est.train(input_fn, hooks=[tf.train.StopAtStepHook(5)], steps=3)", "beside other numb"),
        ("est.train(input_fn, hooks=[tf.train.StopAtStepHook(5), tf.train.StopAtStepHook(6)])",
         "how many steps"),
        ("for i in range(3):\n    hooks = [tf.train.StopAtStepHook(last_step=5 * i)]\n"
         "    est.train(input_fn, hooks=hooks)", "may have its steps already"),
        ("hook = tf.train.StopAtStepHook(5)\nfor i in range(3):\n"
         "    est.train(input_fn, hooks=[hook])", "may stop a second training at once"),
        ("est.evaluate(input_fn, hooks=[tf.train.StopAtStepHook(5)])", "may do more than log"),
    ],
)  # fmt: skip
def test_hooks_that_do_not_only_stop(body: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        lines(f"{MAKE}{body}\n")


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ("print(r['loss'])", True),
        ("print(r)", True),
        ("print(r['accuracy'])", False),
        ("", False),
    ],
)
def test_an_evaluations_loss_is_another_mean(read: str, told: bool) -> None:
    _, changes = driven(
        f"est = tf.estimator.Estimator(model_fn, params={{}})\nr = est.evaluate(input_fn)\n{read}\n"
    )
    assert any("mean over examples" in text for _, _, text, _ in changes.notes) == told


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("from_tensor_slices((X, Y)).batch(4)", False),
        ("from_tensor_slices((X, Y)).repeat(2).batch(4)", False),
        ("from_tensor_slices((X, Y)).filter(lambda x, y: y > 0).batch(4)", True),
        ("from_generator(make, (tf.float32, tf.int32)).batch(4)", True),
    ],
)
def test_an_input_whose_end_keras_cannot_foresee_is_told(made: str, told: bool) -> None:
    body = MAKE + f"est.train(lambda: tf.data.Dataset.{made})\n"
    _, changes = driven(body)
    assert any("count one step more" in text for _, _, text, _ in changes.notes) is told
    _, changes = driven(body.replace("4)", "4), steps=3"))
    assert not any("count one step more" in text for _, _, text, _ in changes.notes)


@pytest.mark.parametrize(
    ("count", "written"),
    [
        ("len(X) / 3", "math.ceil(len(X) / 3)"),
        ("len(X) // 3 * 1.5", "math.ceil(len(X) // 3 * 1.5)"),
        ("total", "math.ceil(total)"),
        ("args.epochs", "math.ceil(args.epochs)"),
        ("args.rounds", "args.rounds"),
        ("args.most", "args.most and math.ceil(args.most)"),
        ("chosen", "chosen and math.ceil(chosen)"),
        ("settings['total']", "math.ceil(settings['total'])"),
        ("max(total, 2)", "math.ceil(max(total, 2))"),
        ("int(total)", "int(total)"),
        ("len(X) // 3", "len(X) // 3"),
    ],
)
def test_steps_that_are_fractions_are_whole_ones(count: str, written: str) -> None:
    """Keras 3 stops where they are not; TF1 trains up to the next whole one."""
    head = HEAD + (
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--epochs', type=float, default=1.5)\n"
        "parser.add_argument('--most', type=float)\n"
        "parser.add_argument('--rounds', type=int)\n"
        "args = parser.parse_args()\n"
        "total = len(X) / 4\n"
        "chosen = total if args.rounds else None\n"
        "settings = {'total': total}\n"
    )
    after, changes = driven(f"{MAKE}est.train(input_fn, steps={count})\n", head)
    assert f"steps_per_epoch={written}, " in after
    assert any("math" in names for names in changes.imports.values()) == ("math" in written)


def test_several_replicas_get_no_texts() -> None:
    told = "Keras 3 stops with an error where the input functions give several replicas a text"
    made = configured("tf.distribute.MirroredStrategy()")
    for head, said in ((made, True), (MAKE, False)):
        _, changes = driven(f"{head}est.train(input_fn, steps=3)\n")
        assert any(note.text.startswith(told) for note in changes.notes) == said
