"""Networks whose sizes are those of what they are given, and settings that the mode chooses.

The program of the fixture ``shape_lists`` is proved.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import migrated, stays

FIXTURE = Path(__file__).parents[3] / "fixtures" / "estimator" / "shape_lists" / "before"
MAIN, MODELING, OPTIMIZATION = (
    (FIXTURE / f"{name}.py").read_text() for name in ("main", "modeling", "optimization")
)


def files(*pairs: tuple[str, str], main: tuple[tuple[str, str], ...] = ()) -> list[tuple[str, str]]:
    """The program with other texts in its network's module, or in its own."""
    network, program = MODELING, MAIN
    for old, new in pairs:
        assert old in network, old
        network = network.replace(old, new)
    for old, new in main:
        assert old in program, old
        program = program.replace(old, new)
    return [
        ("main.py", program),
        ("modeling.py", network),
        ("optimization.py", OPTIMIZATION),
    ]


def test_a_size_of_the_first_tensor_is_known_in_build() -> None:
    after, said = migrated(*files())
    assert "    def build(self, input_shape):\n        self.width = input_shape[2]\n" in after, said
    assert after.count("        seq_length = input_shape[1]\n") == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return shape\n", "    return list(shape)\n"),
        ("shape[index] = dyn_shape[index]", "shape[index] = dyn_shape[0]"),
        ("    dyn_shape = tf.shape(tensor)\n", "    dyn_shape = tf.shape(tensor) * 2\n"),
        (
            "    dyn_shape = tf.shape(tensor)\n",
            "    shape.pop()\n    dyn_shape = tf.shape(tensor)\n",
        ),
        ("shape = tensor.shape.as_list()\n", "shape = sorted(tensor.shape.as_list())\n"),
    ],
)
def test_what_a_function_that_does_more_returns_is_no_size(old: str, new: str) -> None:
    first, *others = files((old, new))
    stays(first, "a layer's size or setting depends on the tensor `width`", *others)


def test_a_size_of_a_tensor_that_is_another_by_then_stays() -> None:
    line = "    input_shape = get_shape_list(input_tensor, expected_rank=3)\n    seq_length"
    first, *others = files((line, f"    input_tensor = tf.abs(input_tensor)\n{line}"))
    stays(first, "a layer's size or setting depends on the tensor `width`", *others)


def test_an_error_names_the_scope_that_it_stands_in() -> None:
    after, said = migrated(*files())
    assert "scope_name = tf.get_current_name_scope()\n" in after, said


def test_a_scope_in_another_text_stays() -> None:
    first, *others = files(
        (
            "        scope_name = tf",
            "        print(tf.get_variable_scope().name)\n        scope_name = tf",
        )
    )
    stays(first, "`tf.get_variable_scope` shares variables by name", *others)


def test_an_assertion_that_something_depends_on_is_made() -> None:
    after, said = migrated(*files())
    assert "tf.debugging.assert_less_equal(seq_length, self.max_position_embeddings)" in after, said


@pytest.mark.parametrize("name", ["", "assert_op = "])
def test_an_assertion_that_never_ran_stays(name: str) -> None:
    first, *others = files(
        ("    assert_op = tf.assert_less", f"    {name}tf.assert_less"),
        ("    with tf.control_dependencies([assert_op]):\n", "    if True:\n"),
    )
    stays(first, "`tf.assert_less_equal` never ran: nothing depends on it", *others)


def test_what_the_mode_chooses_is_chosen_where_the_network_runs() -> None:
    after, said = migrated(*files())
    assert "dropout_prob = self.config.dropout_prob if training else 0.0\n" in after, said
    assert "hidden_dropout_prob=dropout_prob)" in after
    assert "deepcopy" not in after


def test_what_is_read_above_the_copy_is_the_config_s_own() -> None:
    copied = "        config = copy.deepcopy(config)\n"
    after, said = migrated(*files((copied, f"        told = config.dropout_prob\n{copied}")))
    assert "dropout_prob = self.config.dropout_prob if training else 0.0\n" in after, said
    assert "told = dropout_prob" not in after


def test_a_setting_under_a_condition_on_the_mode_is_chosen_there_too() -> None:
    after, said = migrated(
        *files(
            ("        config = copy.deepcopy(config)\n", "        rate = config.dropout_prob\n"),
            ("            config.dropout_prob = 0.0\n", "            rate = 0.0\n"),
            ("dropout_prob=config.dropout_prob,", "dropout_prob=rate,"),
            ("                config.dropout_prob,\n", "                rate,\n"),
        )
    )
    call = after.split("def call(self, input_ids, training=False):")[1].split("class ")[0]
    assert "            rate = 0.0\n" in call, said
    assert "rate = 0.0" not in after.replace(call, "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            config.dropout_prob = 0.0\n", "            config.hidden_size = 4\n"),
        ("            config.dropout_prob = 0.0\n", "            config.dropout_prob -= 0.2\n"),
        (
            "        with tf.variable_scope(scope,",
            "        print(config)\n        with tf.variable_scope(scope,",
        ),
        (
            "        with tf.variable_scope(scope,",
            "        config.dropout_prob = 0.5\n        with tf.variable_scope(scope,",
        ),
    ],
)
def test_a_copy_that_is_changed_otherwise_stays(old: str, new: str) -> None:
    first, *others = files((old, new))
    stays(first, "a layer's size or setting depends on the tensor", *others)


def test_layers_of_a_tensor_s_width_are_of_a_class_of_their_own() -> None:
    after, said = migrated(*files())
    assert "class ModelHead(tf.keras.layers.Layer):" in after, said
    assert "        hidden_size = input_shape[-1]\n" in after
    assert (
        "return self.model_head(output_layer=output_layer, labels=labels, training=training)"
        in after
    )


def test_a_width_behind_a_return_stays() -> None:
    first, *others = files(
        main=(
            (
                "    # The sentence is",
                "    if num_labels < 1:\n        return None\n    # The sentence is",
            ),
        )
    )
    stays(first, "a layer's size or setting depends on the tensor `hidden_size`", *others)


def test_each_call_that_may_come_first_restores() -> None:
    after, said = migrated(*files())
    assert after.count("    restore(") == 3, said


def test_a_loop_that_evaluates_restores_each_time() -> None:
    after, said = migrated(
        *files(main=(("    if FLAGS.do_eval:\n", "    while FLAGS.do_eval:\n"),))
    )
    assert "    while FLAGS.do_eval:\n" in after, said
    assert after.count("    restore(") == 3, said


def test_a_loop_that_trains_stays() -> None:
    first, *others = files(
        main=(("    if FLAGS.do_train:\n", "    while FLAGS.do_train:\n"),),
    )
    stays(first, "the input of a model with a model_dir is made here", *others)


@pytest.mark.parametrize(
    "lines",
    [
        "if learning_rate:\n{0}    tf.train.import_meta_graph('old')\n",
        "for name in ['a', 'b']:\n{0}    tf.train.import_meta_graph(name)\n",
        "try:\n{0}    pass\n{0}except IOError:\n{0}    tf.train.import_meta_graph('old')\n",
    ],
)
def test_what_a_model_fn_does_inside_of_a_statement_is_not_lost(lines: str) -> None:
    indent = " " * 8
    first, *others = files(
        main=(
            (
                "        scaffold_fn = None\n",
                indent + lines.format(indent) + f"{indent}scaffold_fn = None\n",
            ),
        )
    )
    stays(first, "`tf.train.import_meta_graph` in model_fn cannot be analyzed", *others)


def test_a_variable_s_name_is_that_within_its_scope() -> None:
    after, said = migrated(*files())
    assert 'name="output_bias"' in after and 'name="output_weights"' in after, said


def test_a_scope_in_a_variable_s_name_that_the_optimizer_asks_for_stays() -> None:
    first, *others = files(main=(('"cls/output_weights",', '"bias/output_weights",'),))
    stays(first, "the optimizer decides by names", *others)


@pytest.mark.parametrize("value", ["False", "FLAGS.do_eval"])
def test_predictions_of_whole_batches_stay(value: str) -> None:
    first, *others = files(main=(("examples=True", f"examples={value}"),))
    stays(first, "`yield_single_examples` of predict is not converted", *others)


def test_a_part_of_a_model_fn_that_changes_what_it_is_given_gets_names_of_its_own() -> None:
    after, said = migrated(*files())
    assert "        logits_2 = logits\n" in after, said
    assert "        logits_2 = tf.reshape(logits_2, [-1, self.num_labels])\n" in after


def test_an_initializer_may_be_made_by_a_function_of_another_module() -> None:
    after, said = migrated(*files())
    assert "initializer=modeling.create_initializer()" in after, said
    made = "    return tf.truncated_normal_initializer(stddev=initializer_range)\n"
    other = "    if initializer_range is None:\n        return 0.5\n"
    first, *others = files((made, f"{other}{made}"))
    stays(first, "what this variable begins with cannot be determined", *others)


@pytest.mark.parametrize(("steps", "counted"), [("None", False), ("4", True)])
def test_an_evaluation_that_may_have_no_number_of_steps_counts_its_batches(
    steps: str, counted: bool
) -> None:
    after, said = migrated(
        *files(
            main=(
                (
                    "        result = estimator.evaluate(input_fn=eval_input_fn, steps=None)",
                    (
                        f"        steps = {steps}\n"
                        "        result = estimator.evaluate(input_fn=eval_input_fn, steps=steps)"
                    ),
                ),
                (
                    "        dataset = tf.data.Dataset.from_tensor_slices(features)\n",
                    (
                        "        dataset = tf.data.Dataset.from_tensor_slices(features)\n"
                        "        dataset = dataset.filter(lambda one: one['label_ids'] >= 0)\n"
                    ),
                ),
            )
        )
    )
    assert ("with tf.control_dependencies([loss]):" in after) is not counted, said


@pytest.mark.parametrize(
    ("asked", "counted"), [("is_training", True), ("is_training and features", False)]
)
def test_an_input_that_does_not_repeat_there_is_counted(asked: str, counted: bool) -> None:
    repeats = "        if is_training:\n            dataset = dataset.repeat()"
    changed = repeats.replace("is_training", asked)
    after, said = migrated(*files(main=((repeats, changed),)))
    assert ("with tf.control_dependencies([loss]):" in after) is not counted, said
