"""Experiments, as ``tf.contrib.learn`` of TensorFlow 1 runs them on one machine.

``RunConfig``, ``Experiment`` and ``run`` of ``learn_runner``, for a ``tf.estimator.Estimator``:
TensorFlow 2.15 is the last to have it. A cluster of ``TF_CONFIG`` is none of theirs.
"""

import json
import os
import time
from typing import Any, Callable, Optional

import tensorflow.compat.v1 as tf

_FREE = (
    "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
)  # fmt: skip
_WARNED_S = 600


class RunConfig(tf.estimator.RunConfig):  # type: ignore[misc]
    """The configuration of an Estimator on one machine."""

    def __init__(
        self,
        master: Optional[str] = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: Optional[int] = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: Optional[int] = 0,
        save_checkpoints_steps: Optional[int] = None,
        keep_checkpoint_max: Optional[int] = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: Optional[int] = 100,
        protocol: Optional[str] = None,
        evaluation_master: str = "",
        model_dir: Optional[str] = None,
        session_config: Any = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if environment.get("cluster"):
            raise ValueError("RunConfig of learn_experiment is for one machine, not for a cluster")
        if save_checkpoints_secs == 0:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        self._master = master or ""
        self._evaluation_master = evaluation_master or ""
        self._num_worker_replicas = 0  # those of a cluster
        self._task_type = environment.get("task", {}).get("type")
        self._environment = environment.get("environment", "local")
        self._tf_config = tf.ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )

    @property
    def environment(self) -> str:
        return str(self._environment)

    @property
    def tf_config(self) -> Any:
        return self._tf_config

    @staticmethod
    def get_task_id() -> int:
        task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
        return int(task.get("index") or 0)

    def uid(self, whitelist: Any = None) -> str:
        """What two configurations have in common that are the same but for free settings."""
        free = {f"_{name}" for name in (_FREE if whitelist is None else whitelist)}
        state = {name: one for name, one in sorted(vars(self).items()) if name not in free}
        if "_cluster_spec" in state:
            state["_cluster_spec"] = state["_cluster_spec"].as_dict()
        return ", ".join(f"{name}={one!r}" for name, one in state.items())


class Experiment:
    """An Estimator with what it is trained and evaluated on."""

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: Optional[int] = None,
        eval_steps: Optional[int] = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: Optional[int] = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: Optional[int] = None,
        delay_workers_by_global_step: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: Optional[float] = 5,
    ) -> None:
        if not isinstance(estimator, tf.estimator.Estimator):
            raise ValueError("`estimator` must be a `tf.estimator.Estimator`.")
        if eval_metrics is not None:
            raise ValueError("Use `eval_metric_ops` of the EstimatorSpec for `eval_metrics`.")
        self.estimator = estimator
        self.eval_metrics = None
        self.train_steps, self.eval_steps = train_steps, eval_steps
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_monitors = train_monitors[:] if train_monitors else []
        self._eval_hooks = eval_hooks[:] if eval_hooks else []
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency: Optional[int] = (
            1 if min_eval_frequency is None else min_eval_frequency
        )
        self._saving_listeners = saving_listeners
        del delay_workers_by_global_step  # the one machine does not wait for others
        self._check_interval_secs = check_interval_secs

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        self._train_monitors.extend(additional_hooks)

    def train(self, delay_secs: Optional[float] = None) -> Any:
        if delay_secs is None:
            delay_secs = min(60, (self.estimator.config.task_id or 0) * 5)
        _wait(delay_secs, "training")
        return self._train(self._train_monitors, max_steps=self.train_steps)

    def evaluate(self, delay_secs: Optional[float] = None, name: Optional[str] = None) -> Any:
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        return self._evaluate(name or "one_pass")

    def local_run(self) -> Any:
        kept, self._min_eval_frequency = self._min_eval_frequency, self._local_eval_frequency
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = kept

    def train_and_evaluate(self) -> Any:
        """Trains, evaluates each checkpoint that it sees, and the last."""
        if self._min_eval_frequency:
            # They stay, as those of TensorFlow 1 did: it put them into the same list.
            self._train_monitors.append(
                ValidationMonitor(
                    self.estimator.model_dir,
                    lambda: self._evaluate(None),
                    self._min_eval_frequency,
                    self._check_interval_secs,
                )
            )
        self.train(delay_secs=0)
        return self._evaluate(None), []

    def continuous_eval(
        self,
        delay_secs: Optional[float] = None,
        throttle_delay_secs: Optional[float] = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Optional[Callable[..., Any]] = None,
        name: str = "continuous",
    ) -> None:
        self._continuous_eval(
            self._eval_input_fn, name, delay_secs, throttle_delay_secs,
            evaluate_checkpoint_only_once, continuous_eval_predicate_fn,
        )  # fmt: skip

    def continuous_eval_on_train_data(
        self,
        delay_secs: Optional[float] = None,
        throttle_delay_secs: Optional[float] = None,
        continuous_eval_predicate_fn: Optional[Callable[..., Any]] = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        self._continuous_eval(
            self._train_input_fn, name, delay_secs, throttle_delay_secs, True,
            continuous_eval_predicate_fn,
        )  # fmt: skip

    def test(self) -> Any:
        """Trains and evaluates for one step."""
        self._train(self._train_monitors, steps=1)
        return self.estimator.evaluate(self._eval_input_fn, steps=1, name="one_pass")

    def _train(self, hooks: Any, **steps: Any) -> Any:
        return self.estimator.train(
            self._train_input_fn, hooks=hooks, saving_listeners=self._saving_listeners, **steps
        )

    def _evaluate(
        self, name: Optional[str], path: Optional[str] = None, input_fn: Any = None
    ) -> Any:
        return self.estimator.evaluate(
            input_fn=input_fn or self._eval_input_fn,
            steps=self.eval_steps,
            name=name,
            checkpoint_path=path,
            hooks=self._eval_hooks,
        )

    def _continuous_eval(
        self,
        input_fn: Any,
        name: str,
        delay_secs: Optional[float],
        throttle_secs: Optional[float],
        once: bool,
        goes_on: Optional[Callable[..., Any]],
    ) -> None:
        throttle = self._throttle_secs if throttle_secs is None else throttle_secs
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        before: Optional[str] = None
        result: Any = None
        warned = 0.0
        while goes_on is None or _asked(goes_on, result, before):
            step = (result or {}).get(tf.GraphKeys.GLOBAL_STEP)
            if step and self.train_steps and step >= self.train_steps:
                return
            start = time.time()
            path = tf.train.latest_checkpoint(self.estimator.model_dir)
            if not path or (once and path == before):
                result = {}
                if time.time() - warned > _WARNED_S:
                    tf.logging.warning("No new checkpoint ready for evaluation.")
                    warned = time.time()
            else:
                result = self._evaluate(name, path, input_fn) or {}
                warned, before = 0.0, path
            time.sleep(max(0.0, throttle - (time.time() - start)))


class ValidationMonitor(tf.train.SessionRunHook):  # type: ignore[misc]
    """Evaluates a checkpoint that is new, every so many steps, and not more often than that."""

    def __init__(
        self, folder: str, evaluate: Callable[[], Any], steps: int, seconds: Optional[float]
    ) -> None:
        self._folder, self._evaluation = folder, evaluate
        self._steps, self._seconds = steps, seconds
        self._checked: Optional[float] = None
        self._path: Optional[str] = None
        self._active = 0
        self._step: Optional[int] = None

    def begin(self) -> None:
        self._step, self._global_step = None, tf.train.get_global_step()

    def before_run(self, run_context: Any) -> Any:
        if self._step is None:
            self._step = run_context.session.run(self._global_step) + 1
        return tf.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert self._step is not None
        if self._step >= self._steps + self._active:
            self._validate(self._step)
            self._active = self._step
        self._step = run_values.results + 1

    def _validate(self, step: int) -> None:
        now = time.time()
        if self._seconds is not None and self._checked is not None:
            if now - self._checked <= self._seconds:
                return
        self._checked = now
        path = tf.train.latest_checkpoint(self._folder)
        if path is None or path == self._path:
            return
        self._path = path
        found = self._evaluate_estimator()
        text = ", ".join(f"{name} = {value}" for name, value in found.items())
        tf.logging.info("Validation (step %d): %s", step, text)

    def _evaluate_estimator(self) -> Any:  # which `migrate-mgpu parity` knows by this name
        return self._evaluation()


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: Optional[str] = None,
    schedule: Optional[str] = None,
    run_config: Optional[RunConfig] = None,
    hparams: Any = None,
) -> Any:
    """Makes an Experiment, and calls its method of that name."""
    if (output_dir is None) == (run_config is None):
        raise ValueError("Must set value for one of `output_dir` and `run_config`")
    expected: Optional[str] = None
    if run_config is None:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = experiment_fn(output_dir=output_dir)
    else:
        if not isinstance(run_config, RunConfig):
            raise ValueError("`run_config` must be a RunConfig of `learn_experiment`")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        expected = run_config.uid()
        experiment = experiment_fn(run_config, hparams)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder returned {type(experiment)}.")
    if expected is not None:
        uid = getattr(experiment.estimator.config, "uid", None)
        if uid is None or uid() != expected:
            raise RuntimeError("`run_config` is to be the configuration of the Estimator.")
    task = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(task):
        raise ValueError(f"Schedule references non-existent task {schedule}")
    return task()


def _asked(goes_on: Callable[..., Any], result: Any, path: Optional[str]) -> Any:
    """What a predicate says, which may take the path of the checkpoint as well."""
    taken = goes_on.__code__.co_varnames[: goes_on.__code__.co_argcount]
    if "checkpoint_path" in taken:
        return goes_on(result, checkpoint_path=path)
    return goes_on(result)


def _wait(seconds: float, what: str) -> None:
    if seconds > 0:
        tf.logging.info("Waiting %d secs before starting %s.", seconds, what)
        time.sleep(seconds)


__all__ = ["Experiment", "RunConfig", "run"]
