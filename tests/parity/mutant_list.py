"""Wrong migrations of the pairs in ``fixtures/parity``, each a mistake that people make.

A mutant is a textual replacement in a pair's ``after.py``, or in its modules. ``rung`` is the
one that must break, ``causes`` the names of diagnoses that are right; with ``rung`` None the
change changes no number, and nothing may break.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    case: str
    changes: tuple[tuple[str, str], ...]
    rung: int | None
    causes: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()  # changes in the TF1 program too


def _one(case: str, old: str, new: str, rung: int | None, *causes: str) -> Mutant:
    return Mutant(case, ((old, new),), rung, causes)


_COPIES = (
    "strategy = tf.distribute.MirroredStrategy()\n",
    """strategy = tf.distribute.MirroredStrategy()
copies = []
for gpu in range(2):
    with tf.device("/gpu:%d" % gpu):
        layers = [
            tf.keras.layers.Input([6]),
            tf.keras.layers.Dense(12, activation="tanh"),
            tf.keras.layers.Dense(3),
        ]
        copies.append(tf.keras.Sequential(layers))
variables = [v for copy in copies for v in copy.trainable_variables]
optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
batches = iter(tf.data.Dataset.from_tensor_slices((inputs, targets)).repeat().batch(2 * BATCH))
for step in range(50):
    x, y = next(batches)
    with tf.GradientTape() as tape:
        halves = zip(copies, tf.split(x, 2), tf.split(y, 2))
        loss = tf.add_n([loss_fn(b, copy(a, training=True)) for copy, a, b in halves]) / 2
    gradients = tape.gradient(loss, variables)
    first = len(copies[0].trainable_variables)
    optimizer.apply_gradients(zip(gradients[:first], variables[:first]))
raise SystemExit
""",
)
_DRAWN = """\
    def part(context):
        # the tower's own batch
        x, y = iterator.get_next()
"""
_SHARE = " / strategy.num_replicas_in_sync"
_REDUCED = """\
        gradients = tf.distribute.get_replica_context().all_reduce(\
tf.distribute.ReduceOp.SUM, gradients)
"""
_DIVIDED = "        gradients = [value / strategy.num_replicas_in_sync for value in gradients]\n"
_ALWAYS = """class Always(tf.keras.layers.{layer}):
    def call(self, inputs, training=None, *args, **options):
        return super().call(inputs, training={mode})


"""

MUTANTS: dict[str, Mutant] = {
    # Towers, now a custom loop under a MirroredStrategy.
    "growth_lost": _one("towers", "growth(gpu, True)", "growth(gpu, False)", 1, "memory-growth"),
    "growth_on_one_gpu": _one(
        "towers", 'devices("GPU"):', 'devices("GPU")[:1]:', 1, "memory-growth"
    ),
    "batch_multiplied_twice": _one(
        "towers", ".batch(global_batch", ".batch(2 * global_batch", 3, "batch-size"
    ),
    "loss_scaled_by_replica_batch": _one(
        "towers", "size=global_batch", "size=BATCH", 4, "loss-reduction"
    ),
    "replica_mean_not_divided": _one(
        "towers",
        "tf.nn.compute_average_loss(losses, global_batch_size=global_batch)",
        "tf.reduce_mean(losses)",
        4,
        "loss-reduction",
    ),
    "loss_divided_twice": _one(
        "towers", "size=global_batch)", "size=global_batch) / 2", 4, "loss-reduction"
    ),
    "gradients_divided_again": _one(
        "towers",
        "gradients = tape.gradient(loss, model.trainable_variables)",
        "gradients = [g / 2 for g in tape.gradient(loss, model.trainable_variables)]",
        5,
        "gradient-scale",
    ),
    "rate_times_replicas": _one(
        "towers", "SGD(0.05,", "SGD(0.05 * strategy.num_replicas_in_sync,", 6, "learning-rate"
    ),
    # Towers that the tool made replicas.
    "replicas_unscaled": _one("split_and_mean", _SHARE, "", 4, "loss-reduction"),
    "replicas_scaled_twice": _one("split_and_mean", _SHARE, _SHARE * 2, 4, "loss-reduction"),
    "one_batch_for_all_replicas": _one(
        "split_and_mean", "x_parts[i], y_parts[i]", "x_parts[0], y_parts[0]", 3, "batch-size"
    ),
    "labels_of_another_replica": _one(
        "split_and_mean", "x_parts[i], y_parts[i]", "x_parts[i], y_parts[1 - i]", 4, "model"
    ),
    "one_replica": _one(
        "split_and_mean", "for i in range(args.num_gpus)]", "for i in range(1)]", 3, "batch-size"
    ),
    "first_instead_of_mean": _one(
        "split_and_mean", "tf.add_n(tower_losses) / args.num_gpus", "tower_losses[0]", 9, "printed"
    ),
    "sum_instead_of_mean": _one(
        "split_and_mean",
        "tf.add_n(tower_losses) / args.num_gpus",
        "tf.add_n(tower_losses)",
        9,
        "printed",
    ),
    "steps_counted_by_each_replica": _one(
        "split_and_mean", "global_step.assign_add(1)", "global_step.assign_add(2)", 9, "printed"
    ),
    "decay_of_each_replica": _one(
        "split_and_mean", "0.01 * tf.nn.l2_loss(w)", "0.02 * tf.nn.l2_loss(w)", 4, "regularization"
    ),
    "replicas_decay_lost": _one(
        "split_and_mean", "        loss += 0.01 * tf.nn.l2_loss(w)\n", "", 4, "regularization"
    ),
    "collected_decay_of_each_replica": _one(
        "collected_losses", "0.004, name=", "2 * 0.004, name=", 4, "regularization"
    ),
    "collected_decay_lost": _one(
        "collected_losses",
        "losses = losses + [weight_decay]",
        "losses = losses + []",
        4,
        "regularization",
    ),
    "argument_of_replicas_lost": _one("split_and_mean", " * keep + b", " + b", 4, "model"),
    "replicas_momentum_lost": _one("split_and_mean", "momentum=0.9", "momentum=0.0", 7, "momentum"),
    "clipped_by_each_replica": Mutant("clipped_after", ((_REDUCED, ""), (_DIVIDED, "")), 5, ()),
    "clipped_not_divided": _one("clipped_after", _DIVIDED, "", 5, "clipping"),
    "replicas_clipping_lost": _one(
        "clipped_after",
        "        gradients, _ = tf.clip_by_global_norm(gradients, MAX_NORM)\n",
        "",
        5,
        "clipping",
    ),
    "first_replicas_loss": _one(
        "clipped_after", "local_results(loss)[-1]", "local_results(loss)[0]", 9, "printed"
    ),
    "rows_of_replicas_turned": _one(
        "evaluated_on_all",
        "logits = tf.concat(logits, 0)",
        "logits = tf.concat(logits[::-1], 0)",
        9,
        "printed",
    ),
    "one_part_for_all_replicas": Mutant(
        "evaluated_on_all",
        (("return image_parts[i], label_parts[i]", "return image_parts[0], label_parts[0]"),),
        9,
        ("printed",),
    ),
    "first_share_for_all_replicas": _one(
        "numbered_inputs", "iterators[i].get_next()", "iterators[0].get_next()", 4
    ),
    "noise_of_each_tower": Mutant(
        "noise_on_average",
        (
            (
                "        gradients = tf.distribute.get_replica_context().all_reduce("
                "tf.distribute.ReduceOp.SUM, gradients)\n"
                "        gradients = [grad + n for grad, n in zip(gradients, noise)]\n",
                "        gradients = [grad + n for grad, n in zip(gradients, noise)]\n"
                "        gradients = tf.distribute.get_replica_context().all_reduce("
                "tf.distribute.ReduceOp.SUM, gradients)\n",
            ),
        ),
        5,
        (),
    ),
    "noise_lost": _one("noise_on_average", "grad + n for", "grad for", 5),
    "biases_as_slow": _one("gradients_by_name", '2.0 * g if "bias" in v.name else g', "g", 5),
    "all_gradients_applied": _one(
        "gradients_by_name",
        "[*fc1.trainable_variables, *fc2.trainable_variables]",
        "[*features.trainable_variables, *fc1.trainable_variables, *fc2.trainable_variables]",
        2,
        "layers",
    ),
    "limit_of_the_whole_loss": _one(
        "clipped_towers", "0.3 / strategy.num_replicas_in_sync", "0.3", 5, "gradient-scale"
    ),
    "replicas_rate_a_step_later": _one(
        "tower_function", "lr_schedule(global_step)", "lr_schedule(global_step + 1)", 7, "schedule"
    ),
    "replicas_draw_one_batch": _one(
        "dataset_of_towers",
        _DRAWN,
        "    x, y = iterator.get_next()\n\n    def part(context):\n",
        3,
        "batch-size",
    ),
    "loss_of_one_replicas_batch": _one(
        "dataset_of_towers",
        "tf.reduce_mean(tf.stack(tower_losses))",
        "tower_losses[-1]",
        9,
        "printed",
    ),
    "records_from_the_first_again": _one(
        "records_pipeline",
        "x, y = iterator.get_next()",
        "x, y = next(iter(get_input(training=True)))",
        7,
        "data-order",
    ),
    "tested_with_weights_of_its_own": Mutant(
        "tested_by_reuse",
        (
            (
                "    @tf.function(input_signature=[test_x_spec",
                "    own = tf.constant(softmax_linear_weights.numpy())\n\n"
                "    @tf.function(input_signature=[test_x_spec",
            ),
            ("tf.matmul(local2_2, softmax_linear_weights)", "tf.matmul(local2_2, own)"),
        ),
        9,
        ("printed",),
    ),
    "decay_of_the_test_as_well": _one(
        "tested_by_reuse",
        "losses = losses + [cross_entropy_mean]",
        "losses = losses + losses + [cross_entropy_mean]",
        4,
        "regularization",
    ),
    "one_iterator_for_all_replicas": _one(
        "own_iterators", "iterators[i].get_next()", "iterators[0].get_next()", 4
    ),
    "parts_of_two_batches": _one(
        "dataset_split",
        "batch_images, batch_labels = iterator.get_next()",
        "batch_images, batch_labels = iterator.get_next()[0], iterator.get_next()[1]",
        4,
        "labels",
    ),
    "mean_of_rows_not_divided": _one(
        "minimized_mean",
        "tf.reduce_mean(cost) / strategy.num_replicas_in_sync",
        "tf.reduce_mean(cost)",
        4,
        "loss-reduction",
    ),
    "rows_of_a_replica_summed": _one(
        "minimized_mean", "tf.reduce_mean(cost) / ", "tf.reduce_sum(cost) / ", 4, "loss-reduction"
    ),
    "clipped_sum_not_divided": _one(
        "sum_of_losses", "[tensor / strategy.num_replicas_in_sync for", "[tensor for", 5, "clipping"
    ),
    "loss_of_last_replica_for_sum": _one(
        "sum_of_losses", "tf.add_n(losses)", "losses[-1]", 9, "printed"
    ),
    "batches_of_first_replica": _one(
        "batch_norm_last",
        "sync_group == replica.num_replicas_in_sync - 1",
        "sync_group == 0",
        9,
        "printed",
    ),
    "batches_of_all_replicas": _one(
        "batch_norm_first",
        "VariableAggregation.ONLY_FIRST_REPLICA",
        "VariableAggregation.MEAN",
        9,
        "printed",
    ),
    "averages_lost": _one("averages_of_variables", "assign_sub((1.0 - decay)", "assign_sub(0.0", 9),
    "averages_a_step_earlier": _one(
        "averages_of_variables",
        "steps = tf.cast(global_step, tf.float32)",
        "steps = tf.cast(global_step, tf.float32) - 1.0",
        9,
    ),
    "averages_of_each_replica": _one(
        "averages_of_variables",
        "assign_sub((1.0 - decay)",
        "assign_sub(2.0 * (1.0 - decay)",
        9,
    ),
    "summary_of_another_replica": _one(
        "tower_summaries", "local_results(output)[-1]", "local_results(output)[0]", 9, "printed"
    ),
    "scope_once_in_the_name_of_a_summary": _one(
        "iterator_function",
        "'%s_%d' % (TOWER, i) + '/' + '%s_%d'",
        "'%s_%d'",
        9,
        "printed",
    ),
    "first_part_of_a_read_batch_for_all": _one(
        "printed_parts",
        "return row_parts[i], label_parts[i]",
        "return row_parts[0], label_parts[0]",
        3,
        "batch-size",
    ),
    "summary_of_another_loss": _one("named_summaries", "values=losses[1]", "values=losses[0]", 9),
    "gradients_averaged_twice": _one(
        "gradient_summaries", "ReduceOp.SUM, tensor", "ReduceOp.MEAN, tensor", 9, "printed"
    ),
    "one_batch_of_a_list_for_all_replicas": _one(
        "placeholders_in_loop",
        "x = images[i]\n        y = labels[i]",
        "x = images[0]\n        y = labels[0]",
        3,
        "batch-size",
    ),
    "outputs_of_the_last_replica_alone": _one(
        "list_of_placeholders", "tf.concat(tower_outputs, 0)", "tower_outputs[-1]", 9, "printed"
    ),
    "template_unscaled": _one(
        "shared_template", "loss / strategy.num_replicas_in_sync", "loss", 4, "loss-reduction"
    ),
    "summary_of_the_last_for_the_first": _one(
        "first_summaries", "values=mses[0]", "values=mses[-1]", 9
    ),
    # One for each of the fixtures of towers that had none.
    "one_gpu_for_all_of_them": _one(
        "added_on_cpu", "tf.add_n(partial)", "partial[0]", 9, "printed"
    ),
    "loss_of_the_first_beside_another_module": _one(
        "averages_beside",
        "tf.add_n(tower_losses) / args.num_gpus",
        "tower_losses[0]",
        9,
        "printed",
    ),
    "normalized_by_the_averages": _one(
        "batch_norm_all", "norm(net, training=True)", "norm(net, training=False)", 4, "batch-norm"
    ),
    "cifar_decay_twice": _one(
        "cifar10", "l2_loss(weights), 0.004", "l2_loss(weights), 0.008", 4, "regularization"
    ),
    "given_functions_unscaled": _one(
        "functions_of_functions",
        "cost_2 / strategy.num_replicas_in_sync",
        "cost_2",
        4,
        "loss-reduction",
    ),
    "helpers_gradients_unscaled": _one(
        "helpers_module", "loss / strategy.num_replicas_in_sync", "loss", 4, "loss-reduction"
    ),
    "function_of_a_network_pools_otherwise": _one(
        "network_function", "max_pool2d(net, ksize", "avg_pool2d(net, ksize", 4, "model"
    ),
    "rate_of_the_saved_decays_later": _one(
        "saver_summaries", "ExponentialDecay(0.1, 3,", "ExponentialDecay(0.1, 4,", 7, "schedule"
    ),
    "shared_network_with_the_rate_of_all": _one(
        "towers.shared_network",
        "SGD(0.2)",
        "SGD(0.2 * strategy.num_replicas_in_sync)",
        6,
        "learning-rate",
    ),
    "argument_of_another_scope": _one(
        "slim_scopes",
        'name="second", activation=tf.nn.relu',
        'name="second", activation=tf.nn.tanh',
        4,
        "model",
    ),
    "trained_as_the_first_tests": _one(
        "tested_by_first",
        "model(input_part, is_training=True)",
        "model(input_part, is_training=False)",
        4,
        "dropout",
    ),
    "trainers_rate_doubled": _one(
        "towers.trainer_object",
        "Trainer(args.num_gpus, 0.02",
        "Trainer(args.num_gpus, 0.04",
        6,
        "learning-rate",
    ),
    "found_gpus_clip_at_twice": _one(
        "found_gpus",
        "clip_by_global_norm(gradients, 0.1)",
        "clip_by_global_norm(gradients, 0.2)",
        5,
        "clipping",
    ),
    "scopes_decay_twice": _one("scope_decay", "L2(0.01)", "L2(0.02)", 4, "regularization"),
    "decay_of_no_deployed_clone": _one(
        "deployed_clones",
        "tf.add_n(own_losses + regularization_losses)",
        "tf.add_n(own_losses)",
        4,
        "regularization",
    ),
    # Towers of several modules.
    "decay_in_a_module_halved": _one(
        "handed_regularizer",
        "tf.multiply(self.regularizer_scale,",
        "tf.multiply(0.5 * self.regularizer_scale,",
        4,
        "regularization",
    ),
    "decay_counted_for_each_replica": _one(
        "handed_regularizer", "entropy + held", "entropy + 2.0 * held", 4, "regularization"
    ),
    "loss_of_a_module_unscaled": _one(
        "two_modules", "loss / strategy.num_replicas_in_sync", "loss", 4, "loss-reduction"
    ),
    "residual_blocks_unscaled": _one(
        "residual_blocks", "loss / strategy.num_replicas_in_sync", "loss", 4, "loss-reduction"
    ),
    "decay_collected_twice": _one(
        "tested_beside",
        "losses = [weight_decay]",
        "losses = [weight_decay, weight_decay]",
        4,
        "regularization",
    ),
    "written_numbers_exchanged": _one(
        "tested_beside",
        "values=[tested, int(np.sum(right))]",
        "values=[int(np.sum(right)), tested]",
        9,
    ),
    "last_loss_instead_of_mean": _one(
        "prefetched_batches", "tf.reduce_mean(tf.stack(losses))", "losses[-1]", 9, "printed"
    ),
    "prefetched_batches_unscaled": _one(
        "prefetched_batches",
        "scaled_loss = loss / strategy.num_replicas_in_sync",
        "scaled_loss = loss",
        4,
        "loss-reduction",
    ),
    "accuracy_of_another_replica": _one(
        "reuse_flag", "local_results(accuracy)[0]", "local_results(accuracy)[-1]", 9, "printed"
    ),
    "trained_as_it_is_tested": _one(
        "reuse_flag", "is_training=True", "is_training=False", 4, "softmax-twice"
    ),
    # One for each of the forms that towers are written in.
    "averages_behind_the_step": Mutant(
        "averages_at_once",
        (
            (
                "            average.assign_sub((1.0 - decay) * (average - variable))\n"
                "        loss = strategy.run(train_tower, args=split_batch(images, labels))\n",
                "            pass\n"
                "        loss = strategy.run(train_tower, args=split_batch(images, labels))\n"
                "        for average, variable in zip(averages, variables):\n"
                "            average.assign_sub((1.0 - decay) * (average - variable))\n",
            ),
        ),
        9,
        (),
    ),
    "fed_rate_not_taken": _one(
        "guarded_modules",
        "optimizer.learning_rate.assign(rate)",
        "optimizer.learning_rate.assign(0.5)",
        7,
        "schedule",
    ),
    "summary_of_the_first_call_of_the_last_replica": _one(
        "first_call_summaries", "values=model_losses[0]", "values=model_losses[-1]", 9
    ),
    "sum_in_a_loop_not_divided": _one(
        "added_in_loop",
        "tf.add_n(loss_of_towers) / n_gpus",
        "tf.add_n(loss_of_towers)",
        9,
        "printed",
    ),
    "added_gradients_averaged": _one(
        "added_lists",
        "    part = forward(xs_part, ys_part)\n    gradients",
        f"    part = forward(xs_part, ys_part){_SHARE}\n    gradients",
        5,
        "gradient-scale",
    ),
    "clipped_in_a_script_one_by_one": _one(
        "averages_in_script",
        "gradients, _ = tf.clip_by_global_norm(gradients, 0.4)",
        "gradients = [tf.clip_by_norm(one, 0.4) for one in gradients]",
        5,
        "clipping",
    ),
    "array_of_the_first_replica_for_all": _one(
        "batches_of_arrays", "= batches[i]", "= batches[0]", 4
    ),
    "rate_of_a_method_a_step_later": _one(
        "built_by_method", "schedule(global_step)", "schedule(global_step + 1)", 7, "schedule"
    ),
    "accuracy_of_one_graph_alone": _one(
        "built_elsewhere", "tf.reduce_mean(accs)", "accs[0]", 9, "printed"
    ),
    "histograms_of_the_mean_gradients": _one(
        "chosen_summaries", "ReduceOp.SUM, tensor", "ReduceOp.MEAN, tensor", 9
    ),
    "chosen_summary_of_another_loss": _one(
        "chosen_summaries", "values=losses[1]", "values=losses[0]", 9
    ),
    "slices_loss_of_the_first": _one(
        "epochs_of_slices", "tf.reduce_mean(tower_losses)", "tower_losses[0]", 9, "printed"
    ),
    "tested_beside_on_the_first_rows_alone": _one(
        "evaluated_beside", "features[:10], targets[:10]", "features[:9], targets[:9]", 7
    ),
    "lists_of_what_a_function_feeds_exchanged": _one(
        "fed_by_function", "start = (batch_idx + i)", "start = (batch_idx + 1 - i)", 9
    ),
    "slices_of_the_first_replica": _one(
        "fed_slices", "[i * batch_size:", "[0 * batch_size:", 3, "batch-size"
    ),
    "first_accuracy_of_the_last": _one(
        "first_accuracy", "local_results(accuracy)[0]", "local_results(accuracy)[-1]", 9, "printed"
    ),
    "predictions_of_the_last_replica_first": _one(
        "gathered_predictions",
        "tf.concat(tower_logits, 0)",
        "tf.concat(tower_logits[::-1], 0)",
        9,
        "printed",
    ),
    "gradients_behind_the_loop_unscaled": _one("gradients_behind", _SHARE, "", 4, "loss-reduction"),
    "loss_of_a_dictionary_for_its_error": _one(
        "indexed_lists",
        'tower_error = tower_net["error"]',
        'tower_error = tower_net["loss"]',
        9,
        "printed",
    ),
    "decay_of_a_function_in_a_module_lost": _one(
        "losses_of_modules",
        "losses = losses + [tf.multiply(tf.nn.l2_loss(self.w), 0.01)]",
        "losses = losses + []",
        4,
        "regularization",
    ),
    "last_loss_of_an_object_is_the_first": _one(
        "model_objects", "last = loss_of_towers[-1]", "last = loss_of_towers[0]", 7
    ),
    "rate_of_settings_doubled": _one(
        "model_of_settings", "rate.assign(lr)", "rate.assign(2.0 * lr)", 6, "learning-rate"
    ),
    "objects_of_networks_in_evaluation": _one(
        "network_objects", "training = True", "training = False", 4, "model"
    ),
    "paired_gradients_unscaled": _one("paired_gradients", _SHARE, "", 4, "loss-reduction"),
    "accuracy_of_parts_of_the_first": _one(
        "parts_with_reuse",
        "tf.reduce_mean(tower_acc)",
        "tf.reduce_mean(tower_acc[0])",
        9,
        "printed",
    ),
    "one_queue_for_all_replicas": _one(
        "queue_in_each_tower", "iterators[i].get_next()", "iterators[0].get_next()", 4
    ),
    "tests_by_the_queue_of_towers": _one(
        "tested_by_queue",
        "iter(network.test_batch())",
        "iter(network.training_batch())",
        9,
    ),
    "queue_that_begins_again": _one(
        "queue_of_records", "iterator.get_next()", "next(iter(inputs()))", 4
    ),
    "decay_of_a_reused_scope_twice": _one(
        "reused_scope",
        "entropy + tf.add_n(losses)",
        "entropy + 2.0 * tf.add_n(losses)",
        4,
        "regularization",
    ),
    "rows_of_tensors_unscaled": _one("rows_of_tensors", _SHARE, "", 4, "loss-reduction"),
    "share_that_a_schedule_leaves": _one(
        "schedules_elsewhere",
        "share = tf.minimum(0.9, 1 - left)",
        "share = tf.minimum(0.9, left)",
        9,
    ),
    "session_of_a_function_draws_one_batch": Mutant(
        "session_function",
        (
            (
                "        def part(context):\n            rows, numbers = iterator.get_next()\n",
                "        rows, numbers = iterator.get_next()\n\n        def part(context):\n",
            ),
        ),
        3,
        ("batch-size",),
    ),
    "normalized_by_slim_as_in_evaluation": _one(
        "slim_normalized", "is_training = True", "is_training = False", 4, "model"
    ),
    "sum_of_gradients_divided": _one(
        "sum_of_gradients",
        "loss = tf.reduce_sum(tf.square(output - target_of_part))",
        f"loss = tf.reduce_sum(tf.square(output - target_of_part)){_SHARE}",
        4,
        "loss-reduction",
    ),
    "rows_of_a_table_off": _one(
        "tables_of_variables",
        "tf.concat(outputs, 0) - y",
        "tf.concat(outputs[::-1], 0) - y",
        9,
        "printed",
    ),
    "decay_of_all_variables_with_biases": _one("two_loops", ' if "bias" not in one.name]', "]", 7),
    "loss_of_a_trainer_of_the_last": _one(
        "trainer_losses", "tf.add_n(losses) / FLAGS.num_gpus", "losses[-1]", 9, "printed"
    ),
    "list_of_a_trainer_unscaled": _one("trainer_lists", _SHARE, "", 4, "loss-reduction"),
    "other_activation": _one("towers", '"tanh"', '"relu"', 4, "model"),
    "other_data": _one("towers", "RandomState(1)", "RandomState(2)", 4, "other-data"),
    "first_batch_skipped": _one(
        "towers", "drop_remainder=True))", "drop_remainder=True).skip(1))", 4, "data-order"
    ),
    "data_reversed": _one(
        "towers",
        "from_tensor_slices((inputs, targets))",
        "from_tensor_slices((inputs[::-1], targets[::-1]))",
        4,
        "data-order",
        "other-data",
    ),
    "only_first_copy_updated": Mutant("towers", (_COPIES,), 2, ("model-copies",)),
    # A session's loop, now a tf.function.
    "soft_placement_lost": _one(
        "session_momentum", "placement(True)", "placement(False)", 1, "soft-placement"
    ),
    "bias_lost": _one("session_momentum", "Dense(4)", "Dense(4, use_bias=False)", 2, "bias"),
    "layer_added": _one(
        "session_momentum",
        "tf.keras.layers.Dense(4),",
        "tf.keras.layers.Dense(4), tf.keras.layers.Dense(4),",
        2,
        "layers",
    ),
    "layer_wider": _one("session_momentum", "Dense(16,", "Dense(32,", 2, "layer-size"),
    "layer_frozen": _one(
        "session_momentum", "Dense(16,", "Dense(16, trainable=False,", 2, "not-trained"
    ),
    "softmax_twice": _one(
        "session_momentum",
        "model(x, training=True))",
        "tf.nn.softmax(model(x, training=True)) * 1.0)",
        4,
        "softmax-twice",
    ),
    # Keras 2 sees that what it gets is a softmax, and takes the logits before it.
    "softmax_layer": _one("session_momentum", "Dense(4)", 'Dense(4, activation="softmax")', None),
    "relu_lost": _one("session_momentum", ', activation="relu"', "", 4, "model"),
    "not_a_number": _one(
        "session_momentum", "model(x, training=True))", "model(x)) * float('nan')", 4, "nan"
    ),
    "labels_shifted": _one("session_momentum", "(axis=1) * 3)", "(axis=1) * 3 + 1)", 4, "labels"),
    "learning_rate": _one("session_momentum", "SGD(0.1,", "SGD(0.11,", 6, "learning-rate"),
    "nesterov": _one("session_momentum", "m=0.9", "m=0.9, nesterov=True", 6, "momentum"),
    "momentum_lost": _one("session_momentum", "momentum=0.9", "momentum=0.0", 7, "momentum"),
    "momentum_other": _one("session_momentum", "momentum=0.9", "momentum=0.99", 7, "momentum"),
    "other_optimizer": _one(
        "session_momentum", "SGD(0.1, momentum=0.9)", "Adam(0.1)", 6, "optimizer"
    ),
    "applied_twice": _one(
        "session_momentum",
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n",
        "    for _ in range(2):\n"
        "        optimizer.apply_gradients(zip(gradients, model.trainable_variables))\n",
        6,
        "applied-twice",
    ),
    "first_batch_only": _one("session_momentum", "step * 32 % 320", "0", 7, "data-order"),
    "starts_one_batch_late": _one(
        "session_momentum", "step * 32 % 320", "(step + 1) * 32 % 320", 4, "data-order"
    ),
    "half_a_batch": _one("session_momentum", "begin + 32]", "begin + 16]", 3, "batch-size"),
    "a_step_too_many": _one("session_momentum", "range(50)", "range(51)", 7, "step-count"),
    "gradient_lost": _one(
        "session_momentum",
        "    optimizer.apply_gradients(zip(gradients,",
        "    gradients[0] = gradients[0] * 0\n    optimizer.apply_gradients(zip(gradients,",
        5,
        "gradient-stopped",
    ),
    "rate_and_momentum": _one(
        "session_momentum", "0.1, momentum=0.9", "0.2, momentum=0.5", 6, "learning-rate"
    ),
    # An Estimator under a MirroredStrategy, now Keras' fit.
    "batch_not_multiplied": _one(
        "estimator_mirrored", "BATCH * strategy.num_replicas_in_sync", "BATCH", 3, "batch-size"
    ),
    "from_logits_lost": _one(
        "estimator_mirrored", "entropy(from_logits=True)", "entropy()", 4, "from-logits"
    ),
    "epsilon": _one("estimator_mirrored", "epsilon=1e-8", "epsilon=1e-4", 6, "epsilon"),
    "epsilon_default": _one("estimator_mirrored", ", epsilon=1e-8", "", 6, "epsilon"),
    "adam_rate_times_replicas": _one(
        "estimator_mirrored", "Adam(0.01,", "Adam(0.02,", 6, "learning-rate"
    ),
    "beta_1": _one("estimator_mirrored", "Adam(0.01,", "Adam(0.01, beta_1=0.5,", 7, "beta"),
    "beta_2": _one("estimator_mirrored", "Adam(0.01,", "Adam(0.01, beta_2=0.99,", 6, "beta"),
    "rate_and_epsilon": _one(
        "estimator_mirrored",
        "Adam(0.01, epsilon=1e-8)",
        "Adam(0.02, epsilon=1e-3)",
        6,
        "learning-rate",
        "epsilon",
    ),
    "decay_under_mirrored_strategy": Mutant(
        "estimator_mirrored",
        (
            (
                '"relu")',
                '"relu", kernel_regularizer=tf.keras.regularizers.L2(0.005))',
            ),
        ),
        5,
        ("mirrored-regularization",),
        (
            (
                "activation=tf.nn.relu)",
                "activation=tf.nn.relu, kernel_regularizer=lambda w: 0.01 * tf.nn.l2_loss(w))",
            ),
            (
                "(labels, logits)\n",
                "(labels, logits)\n    loss += tf.losses.get_regularization_loss()\n",
            ),
        ),
    ),
    "a_step_too_few": _one("estimator_mirrored", "epoch=50", "epoch=49", 7, "step-count"),
    "steps_divided_by_replicas": _one(
        "estimator_mirrored", "epoch=50", "epoch=50 // 2", 7, "step-count"
    ),
    "evaluated_on_training_data": _one(
        "estimator_mirrored", "data(1, 64)", "data(0, 320)", 9, "evaluation-data"
    ),
    "evaluated_on_other_data": _one(
        "estimator_mirrored", "data(1, 64)", "data(2, 64)", 9, "evaluation-data"
    ),
    "evaluated_on_a_part": _one(
        "estimator_mirrored",
        "(eval_input_fn(),",
        "(eval_input_fn(), steps=2,",
        9,
        "evaluation-data",
    ),
    # Keras on both sides.
    "dropout_lost": _one("keras_fit", "tf.keras.layers.Dropout(0.25),", "", 4, "dropout"),
    "keep_probability_as_rate": _one("keras_fit", "Dropout(0.25)", "Dropout(0.75)", 4, "dropout"),
    "dropout_in_evaluation": Mutant(
        "keras_fit",
        (
            ("rng = ", _ALWAYS.format(layer="Dropout", mode="True") + "rng = "),
            ("tf.keras.layers.Dropout(", "Always("),
        ),
        9,
        ("dropout",),
    ),
    "other_loss": _one("keras_fit", '"mse"', '"mae"', 4, "model", "loss-function"),
    "an_epoch_lost": _one("keras_fit", "epochs=2", "epochs=1", 7, "step-count"),
    "remainder_kept": _one("keras_fit", ", drop_remainder=True", "", None),
    # A canned Estimator, now Keras.
    "mean_instead_of_sum": _one(
        "canned_estimator", '"sum"', '"sum_over_batch_size"', 4, "loss-reduction"
    ),
    "initial_slot": _one("canned_estimator", "value=0.1", "value=0.0", 6, "initial-slot"),
    "initial_slot_half": _one("canned_estimator", "value=0.1", "value=0.05", 6, "initial-slot"),
    "keras_default_rate": _one(
        "canned_estimator", "Adagrad(0.05,", "Adagrad(0.001,", 6, "learning-rate"
    ),
    # A monitored session, now a loop with a tape.
    "clipping_lost": _one("monitored_session", "ables), 0.5)", "ables), 50.0)", 5, "clipping"),
    "clipping_other": _one("monitored_session", "ables), 0.5)", "ables), 0.25)", 5, "clipping"),
    "clipped_one_by_one": _one(
        "monitored_session",
        "gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 0.5)",
        "gradients = [tf.clip_by_norm(g, 0.5) for g in tape.gradient(loss, variables)]",
        5,
        "clipping",
    ),
    "decay_steps": _one("monitored_session", "(0.1, 10, 0.9)", "(0.1, 9, 0.9)", 7, "schedule"),
    "schedule_begins_at_one": _one(
        "monitored_session",
        "SGD(rate)\n",
        "SGD(rate)\noptimizer.build(variables)\noptimizer.iterations.assign(1)\n",
        6,
        "schedule",
    ),
    "staircase": _one(
        "monitored_session", "(0.1, 10, 0.9)", "(0.1, 10, 0.9, staircase=True)", 7, "schedule"
    ),
    "schedule_lost": _one("monitored_session", "SGD(rate)", "SGD(0.1)", 7, "schedule"),
    "sum_of_squares": _one("monitored_session", "reduce_mean", "reduce_sum", 4, "loss-reduction"),
    "half_of_the_square": _one(
        "monitored_session", "tf.reduce_mean(", "0.5 * tf.reduce_mean(", 4, "loss-reduction"
    ),
    "variable_forgotten": _one(
        "monitored_session", "[weights, bias]", "[weights]", 2, "not-trained", "bias"
    ),
    "printed_otherwise": _one("monitored_session", "last loss", "loss", 9, "printed"),
    # An Estimator with regularization, batch normalization, dropout and RMSProp.
    "l2_doubled": _one("estimator_regularized", "L2(0.002 / 2)", "L2(0.002)", 4, "regularization"),
    "l2_lost": _one("estimator_regularized", "L2(0.002 / 2)", "L2(0.0)", 4, "regularization"),
    "l2_of_one_layer_lost": _one(
        "estimator_regularized",
        "CLASSES, kernel_regularizer=decay()",
        "CLASSES",
        4,
        "regularization",
    ),
    "label_smoothing_lost": _one(
        "estimator_regularized", ", label_smoothing=0.1", "", 4, "label-smoothing"
    ),
    "l2_and_smoothing_lost": Mutant(
        "estimator_regularized",
        ((", label_smoothing=0.1", ""), ("L2(0.002 / 2)", "L2(0.0)")),
        4,
        ("label-smoothing", "regularization"),
    ),
    "label_smoothing_other": _one(
        "estimator_regularized", "smoothing=0.1", "smoothing=0.2", 4, "label-smoothing"
    ),
    "keep_probability_as_rate_again": _one(
        "estimator_regularized", "Dropout(0.2)", "Dropout(0.8)", 4, "dropout"
    ),
    "batch_norm_momentum": _one("estimator_regularized", "(momentum=0.9)", "()", 9, "batch-norm"),
    "batch_norm_epsilon": _one(
        "estimator_regularized", "(momentum=0.9)", "(momentum=0.9, epsilon=1e-2)", 4, "batch-norm"
    ),
    "batch_norm_as_in_evaluation": Mutant(
        "estimator_regularized",
        (
            ("model = ", _ALWAYS.format(layer="BatchNormalization", mode="False") + "model = "),
            ("tf.keras.layers.BatchNormalization(", "Always("),
        ),
        4,
        ("batch-norm",),
    ),
    "rms_slots_left_at_zero": _one(
        "estimator_regularized", "tf.ones(square", "tf.zeros(square", 6, "initial-slot"
    ),
    "rms_decay": _one("estimator_regularized", "rho=0.9", "rho=0.99", 6, "decay"),
    "rms_momentum_lost": _one(
        "estimator_regularized", "momentum=0.5", "momentum=0.0", 7, "momentum"
    ),
    "boundaries_off_by_one": _one("estimator_regularized", "[19, 34]", "[20, 35]", 7, "schedule"),
    # A session with many options.
    "memory_of_another_gpu": _one(
        "session_options", "0.25 * total.value / 2**20", "0.25 * 8192", 1, "memory-limit"
    ),
    "memory_fraction_lost": _one(
        "session_options",
        "    tf.config.set_logical_device_configuration(gpu, [limit])\n",
        "",
        1,
        "memory-limit",
    ),
    "visible_devices_lost": _one("session_options", '("GPU")[:1]', '("GPU")', 1, "visible-gpus"),
    "threads_lost": _one(
        "session_options",
        "tf.config.threading.set_inter_op_parallelism_threads(2)\n",
        "",
        1,
        "threads",
    ),
    "input_scaled_twice": _one(
        "session_options",
        "x_data[begin : begin + 32], y",
        "x_data[begin : begin + 32] / 255, y",
        4,
        "input-scale",
    ),
    "input_centered": _one(
        "session_options",
        "train(x_data[begin : begin + 32]",
        "train(x_data[begin : begin + 32] - 127",
        4,
        "input-scale",
    ),
    "weights_limited": _one(
        "session_options",
        "Dense(8,",
        "Dense(8, kernel_constraint=tf.keras.constraints.NonNeg(),",
        6,
    ),
    "input_not_scaled": _one(
        "session_options", "        tf.keras.layers.Rescaling(1 / 255.0),\n", "", 4, "model"
    ),
    "value_clipping_lost": _one(
        "session_options", "(g, -0.3, 0.3)", "(g, -9.0, 9.0)", 5, "clipping"
    ),
    "value_clipping_other": _one(
        "session_options", "(g, -0.3, 0.3)", "(g, -0.2, 0.2)", 5, "clipping"
    ),
    "configured_too_late": _one(
        "session_options", "gpus = tf.config", "tf.constant(1.0)\ngpus = tf.config", 1, "too-late"
    ),
    "threads_too_late": _one(
        "session_options",
        "tf.config.threading",
        "tf.constant(1.0)\ntf.config.threading",
        1,
        "too-late",
    ),
    "growth_and_limit": _one(
        "session_options",
        "tf.config.set_soft",
        "tf.config.experimental.set_memory_growth(gpus[0], True)\ntf.config.set_soft",
        1,
        "growth-and-limit",
    ),
    "adagrad_slot": _one("session_options", "value=0.1", "value=0.2", 6, "initial-slot"),
    # Written when all causes were there, to see what they make of mistakes that they were not
    # written for.
    "last_layer_only": _one(
        "towers",
        "tape.gradient(loss, model.trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.trainable_variables))",
        "tape.gradient(loss, model.layers[-1].trainable_variables)\n"
        "    optimizer.apply_gradients(zip(gradients, model.layers[-1].trainable_variables))",
        2,
        "not-trained",
    ),
    "weight_decay_added": _one(
        "towers", "momentum=0.9)", "momentum=0.9, weight_decay=0.01)", 6, "weight-decay"
    ),
    "half_precision": _one(
        "towers",
        "BATCH = 16\n",
        'BATCH = 16\ntf.keras.mixed_precision.set_global_policy("mixed_bfloat16")\n',
        4,
        "precision",
    ),
    "loss_object_sums": _one(
        "session_momentum",
        "Crossentropy(from_logits=True)",
        'Crossentropy(from_logits=True, reduction="sum")',
        4,
        "loss-reduction",
    ),
    "gradients_negated": _one(
        "session_momentum",
        "gradients = tape.gradient(loss, model.trainable_variables)",
        "gradients = [-g for g in tape.gradient(loss, model.trainable_variables)]",
        5,
        "gradient-scale",
    ),
    "adam_for_gradient_descent": _one(
        "monitored_session", "SGD(rate)", "Adam(rate)", 6, "optimizer"
    ),
    "absolute_error": _one(
        "monitored_session", "tf.square(", "tf.abs(", 4, "model", "loss-function"
    ),
    "a_batch_skipped": _one(
        "monitored_session", "dataset.take", "dataset.skip(1).take", 4, "data-order"
    ),
    "optimizer_clips": _one(
        "monitored_session", "SGD(rate)", "SGD(rate, global_clipnorm=0.1)", 5, "clipping"
    ),
    "half_of_the_data": _one("estimator_mirrored", "data(0, 320)", "data(0, 160)", 7, "data-order"),
    "l2_added": _one(
        "estimator_mirrored",
        '"relu")',
        '"relu", kernel_regularizer=tf.keras.regularizers.L2(0.01))',
        4,
        "regularization",
    ),
    "inverse_time_decay": _one(
        "keras_fit",
        "SGD(0.01,",
        "SGD(tf.keras.optimizers.schedules.InverseTimeDecay(0.01, 1, 0.01),",
        7,
        "schedule",
    ),
    "batch_norm_added": _one(
        "keras_fit",
        "tf.keras.layers.Dropout(0.25),",
        "tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.25),",
        2,
        "layers",
    ),
    "fit_loss_sums": _one(
        "keras_fit", '"mse"', 'tf.keras.losses.MeanSquaredError("sum")', 4, "loss-reduction"
    ),
    "elu": _one("estimator_regularized", "layers.ReLU()", "layers.ELU()", 4, "model"),
    "dropout_before_relu": Mutant(
        "estimator_regularized",
        (
            ("        tf.keras.layers.Dropout(0.2),\n", ""),
            ("layers.ReLU(),", "layers.Dropout(0.2), tf.keras.layers.ReLU(),"),
        ),
        None,
    ),
    "batch_norm_not_centered": _one(
        "estimator_regularized", "(momentum=0.9)", "(momentum=0.9, center=False)", 2, "not-trained"
    ),
    "rms_epsilon": _one("estimator_regularized", "epsilon=1e-10", "epsilon=1e-2", 6, "epsilon"),
    "adagrad_rate": _one("session_options", "Adagrad(0.2,", "Adagrad(0.02,", 6, "learning-rate"),
    "adagrad_epsilon": _one("session_options", "epsilon=0.0", "epsilon=1e-3", 6, "epsilon"),
    "an_epoch_too_few": _one("session_options", "range(5)", "range(4)", 7, "step-count"),
    "every_other_batch": _one(
        "session_options", "range(0, 256, 32)", "range(0, 256, 64)", 7, "data-order"
    ),
    "targets_scaled": _one("session_options", "/ 64.0", "/ 32.0", 4, "labels"),
    "tanh_in_canned": _one("canned_estimator", '"relu"', '"tanh"', 4, "model"),
    "ends_with_the_data": _one(
        "canned_estimator",
        ".repeat().batch(BATCH * replicas)",
        ".batch(BATCH * replicas)",
        7,
        "step-count",
    ),
    # Feature columns that are asked when the program runs.
    "columns_unsorted": _one(
        "columns_when_run",
        "sorted(columns, key=lambda column: column.name)",
        "list(columns)",
        4,
        "model",
    ),
    "categories_without_bias": _one(
        "columns_when_run",
        "self.columns(features) + self.bias",
        "self.columns(features)",
        2,
        "not-trained",
    ),
    # Heads whose spec is written out.
    "head_sum_for_mean": _one(
        "head_spec", "return tf.reduce_mean(", "return 8 * tf.reduce_mean(", 4, "loss-reduction"
    ),
    "head_class_by_its_chance": _one(
        "head_spec", "tf.greater(logits, 0.0)", "tf.greater(logistic, 0.0)", 9
    ),
    "evaluated_as_trained": _one(
        "evaluated_otherwise", "self.test_loss(labels", "self.batch_loss(labels", 9
    ),
    "minimized_as_reported": _one(
        "reported_otherwise",
        "loss = self.batch_loss(labels, price)",
        "loss = self.test_loss(labels, price)",
        4,
        "loss-reduction",
    ),
    "averages_in_place_of_first": _one(
        "batch_norm_in_place",
        "VariableAggregation.SUM",
        "VariableAggregation.ONLY_FIRST_REPLICA",
        9,
        "printed",
    ),
    "given_network_unscaled": _one(
        "given_network",
        "total_loss / strategy.num_replicas_in_sync",
        "total_loss",
        4,
        "loss-reduction",
    ),
    "gradients_by_function_unscaled": _one(
        "gradients_by_function",
        "loss_of_tower / strategy.num_replicas_in_sync",
        "loss_of_tower",
        4,
        "loss-reduction",
    ),
    "rows_clipped_as_sums": _one(
        "embedded_rows",
        "gradients, _ = tf.clip_by_global_norm(gradients, 0.05)",
        "gradients, _ = tf.clip_by_global_norm(gradients, 0.05 / strategy.num_replicas_in_sync)",
        5,
        "clipping",
    ),
    "weights_not_limited": _one("clipped_gan", "\n    run_clip()\n", "\n", 4, "model"),
    "one_epoch_of_elements": _one(
        "epochs_of_elements",
        "    for epoch in range(FLAGS.epochs):\n        iterator = iter(data)\n",
        "    for epoch in range(FLAGS.epochs):\n",
        7,
        "step-count",
    ),
    "decay_of_no_clone": _one(
        "slim_losses", "tf.add_n(losses + regularization)", "tf.add_n(losses)", 4, "regularization"
    ),
    "one_rate_for_two": _one(
        "two_rates", "Adam(1e-2, epsilon", "Adam(1e-3, epsilon", 6, "learning-rate"
    ),
    "reads_across_files": _one(  # a read of TF1's ends with its file
        "queued_inputs",
        "lambda name: tf.data.TextLineDataset(name).skip(1).batch(batch_size))",
        "lambda name: tf.data.TextLineDataset(name).skip(1)).batch(batch_size)",
        7,
    ),
    "the_first_of_two_inputs": _one(
        "redefined_functions", "fit(train_input_fn_2()", "fit(train_input_fn()", 7
    ),
    "one_epoch_of_an_endless_input": _one(
        "called_input_fn", ".repeat(None if is_training else 1)", ".repeat(1)", 3, "batch-remainder"
    ),
    "averages_behind_the_update": Mutant(
        "averaged_network",
        (
            (
                "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))\n"
                "        self.mean_loss",
                "        self.mean_loss",
            ),
            (
                "        # The averages move before the variables do.",
                "        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))",
            ),
        ),
        9,
        (),
    ),
}
