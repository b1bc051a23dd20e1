"""Which part of TensorFlow, Keras and Estimators each watcher patches.

Runs in the interpreter under test: Python 3.7, standard library and numpy only.
"""

from __future__ import annotations

import sys
from typing import Any, Callable


def patches(load: Callable[[str], Any], path: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """The recorder, and the patches by module name.

    Args:
      load: gives a module of this folder.
      path: the trace's.
      options: ``steps``, ``dropout``, ``initial`` (where the reference's values are),
        ``publish`` (where to write one's own).

    Names that begin with a dot are TensorFlow's, in whichever package it lies.
    """
    recording, matching = load("recording"), load("matching")
    tools = load("graph_tools")
    recorder = recording.Recorder(path, options, matching)
    building = load("watch_building")
    eager_tools = load("eager_tools")
    recorder.workers = eager_tools.workers
    declares = load("watch_declared")
    declared = declares.Declared(recorder, tools, eager_tools)
    batches = load("watch_batches").Batches(recorder, tools, eager_tools)
    built = building.GraphBuilding(recorder, tools, declared)
    graph = load("watch_graph").GraphWatch(recorder, tools, building, built, batches)
    creation = load("watch_creation").Creation(recorder, eager_tools)
    examples = load("watch_examples").Examples(eager_tools)
    eager = load("watch_eager").EagerWatch(
        recorder, eager_tools, tools.replica_id, creation, declared, batches, examples
    )
    pins = load("pin").Pins(recorder, options.get("dropout", "mask"))
    results = load("watch_results").ResultsWatch(
        recorder, pins, eager, batches, recording.MAX_PREDICTIONS
    )
    records = load("watch_records").RecordsWatch(recorder, eager_tools, tools.replica_id)
    pins.declared = declared
    watch_summaries = load("watch_summaries")
    summaries = watch_summaries.SummariesWatch(recorder)
    watch_checkpoints = load("watch_checkpoints")
    checkpoints = watch_checkpoints.CheckpointsWatch(recorder, watch_summaries.is_programs)
    recorder.at_exit = [results.finish, graph.finish, eager.finish, declared.finish]
    pins.seed_python()

    def draws(module: Any) -> None:
        if pins.dropout == "keep":
            return
        pinned = load("pin_random")
        pinned.patch(module, lambda: recorder.pin("random", pinned.TEXT))
        pinned.patch_categorical(
            module, lambda: recorder.pin("categorical", pinned.CATEGORICAL_TEXT)
        )

    def samples(module: Any) -> None:
        if pins.dropout == "keep":
            return
        pinned = load("pin_random")
        pinned.patch_samplers(module, lambda: recorder.pin("samplers", pinned.SAMPLERS_TEXT))

    def after_import(module: Any) -> None:
        if getattr(recorder, "installed", False) or "compat" not in module.__dict__:
            return  # 1.15 has two modules of this name
        recorder.installed = True
        creation.begin()
        for package in ("tensorflow_core", "tensorflow"):
            for name, action in (
                (".python.eager.context", pins.seed_eager),
                (".python.framework.config", pins.precision),
            ):
                if package + name in sys.modules:
                    action(sys.modules[package + name])

    def framework_ops(module: Any) -> None:
        pins.patch_graphs(module)
        creation.patch_ops(module)

    def keras_backend(module: Any) -> None:
        pins.seed_keras(module)
        graph.patch_keras_function(module)

    def keras_layer(module: Any) -> None:
        results.patch_layer(module.Layer)
        creation.patch_layer(module.Layer)

    def model(module: Any) -> None:
        results.patch_keras_model(module.Model)

    def estimator(module: Any) -> None:
        for name in ("Estimator", "EstimatorV2"):
            if hasattr(module, name):
                results.patch_estimator(getattr(module, name))

    def optimizer_v2(module: Any) -> None:
        built.patch_optimizer(module, "OptimizerV2")
        declares.patch_hyper(module)
        eager.patch_keras_optimizer(module)

    table: dict[str, Callable[[Any], None]] = {
        "": after_import,
        "migrate_mgpu": records.patch,
        ".python.framework.ops": framework_ops,
        ".python.ops.gradients_util": built.patch_gradients,
        ".python.training.optimizer": built.patch_optimizer,
        ".python.client.session": graph.patch_session,
        ".python.ops.resource_variable_ops": creation.patch_reads,
        ".python.eager.backprop": eager.patch_tape,
        ".python.eager.def_function": eager.patch_function,
        ".python.eager.polymorphic_function.polymorphic_function": eager.patch_function,
        ".python.distribute.mirrored_run": examples.patch_replicas,
        ".python.data.ops.iterator_ops": eager.patch_iterator,
        ".python.ops.nn_ops": pins.patch_dropout,
        ".python.ops.gen_nn_ops": batches.patch_entropies,
        ".python.keras.layers.normalization": declared.patch_batch_norm,
        "keras.src.layers.normalization.batch_normalization": declared.patch_batch_norm,
        ".python.ops.gen_random_ops": draws,
        ".python.ops.candidate_sampling_ops": samples,
        ".python.ops.random_ops": pins.patch_random_shuffle,
        ".python.data.ops.dataset_ops": pins.patch_datasets,
        ".python.data.experimental.ops.shuffle_ops": pins.patch_shuffle_and_repeat,
        ".python.summary.writer.writer": summaries.patch_writer,
        ".python.ops.summary_ops_v2": summaries.patch_summary_ops,
        ".python.training.saver": checkpoints.patch_saver,
        "._api.v2.raw_ops": checkpoints.patch_raw_ops,
        ".python.training.input": pins.patch_queues,
        ".contrib.learn.python.learn.monitors": results.patch_monitor,
        "*.learn_experiment": results.patch_monitor,
        "*.tf1_learn_experiment": results.patch_monitor,
        ".contrib.learn.python.learn.learn_io.data_feeder": pins.patch_data_feeder,
        ".python.keras.backend": graph.patch_keras_function,
        ".python.keras.engine.training": model,
        ".python.keras.engine.base_layer": lambda m: results.patch_layer(m.Layer),
        ".python.keras.optimizer_v2.optimizer_v2": optimizer_v2,
        "keras.src.backend": keras_backend,
        "keras.src.random.seed_generator": pins.seed_keras,
        "keras.src.engine.training": model,
        "keras.src.engine.training_v1": model,
        "keras.src.engine.base_layer": keras_layer,
        "keras.src.optimizers.optimizer": eager.patch_keras_optimizer,
        "keras.src.optimizers.legacy.optimizer_v2": optimizer_v2,
        "keras.src.backend.tensorflow.core": creation.patch_keras,
        "keras.src.backend.tensorflow.optimizer": eager.patch_keras_optimizer,
        "keras.src.backend.tensorflow.trainer": lambda m: results.patch_keras_model(
            m.TensorFlowTrainer
        ),
        "keras.src.layers.layer": keras_layer,
        "keras.src.trainers.trainer": pins.patch_jit,
        "tensorflow_estimator.python.estimator.estimator": estimator,
        "tensorflow_estimator.python.estimator.inputs.queues.feeding_functions": (
            pins.patch_feeding
        ),
    }
    return recorder, table
