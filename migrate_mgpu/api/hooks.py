"""TensorFlow's own session hooks, and what a Keras program has in their place."""

# Hooks that only show or write something, and what does that in Keras.
LOGGING_HOOKS = {
    "train.LoggingTensorHook": "Keras's progress bar shows the loss and metrics instead",
    "train.StepCounterHook": "Keras's progress bar shows the time of a step instead",
    "train.ProfilerHook": "tf.keras.callbacks.TensorBoard(profile_batch=...) profiles instead",
    "train.SummarySaverHook": "tf.keras.callbacks.TensorBoard writes the loss instead",
}
# Hooks that did nothing that an Estimator does not.
IDLE_HOOKS = {
    "train.NanTensorHook": "with or without it an Estimator stopped with an error at a NaN; "
    "tf.keras.callbacks.TerminateOnNaN() in fit's callbacks stops there",
}

# Hooks that are told by their names, with what to do.
REFUSED_HOOKS = {
    "CheckpointSaverHook": "give RunConfig its model_dir and save_checkpoints_steps",
    "GlobalStepWaiterHook": "replicas of one strategy begin together in TF2: take it out",
    "FeedFnHook": "let the input function give what is fed",
    "FinalOpsHook": "compute it after the training",
    "stop_if_higher_hook": "use a tf.keras.callbacks.Callback with an on_test_end",
    "stop_if_lower_hook": "use a tf.keras.callbacks.Callback with an on_test_end",
}
# What makes a hook that stops a training early.
EARLY_STOPPING = (
    "estimator.experimental.make_early_stopping_hook",
    "contrib.estimator.make_early_stopping_hook",
)
# Those that stop when evaluations do not get better, with what better is: a sign, and a word.
NOT_BETTER = {
    f"{package}.stop_if_no_{word}_hook": (sign, word)
    for package in ("estimator.experimental", "contrib.estimator")
    for sign, word in ((">", "increase"), ("<", "decrease"))
}
# What a hook of the author's own derives from.
HOOK_BASES = ("train.SessionRunHook", "estimator.SessionRunHook")
# The parameters of the hooks that a monitored session may have.
HOOKS = {
    "StopAtStepHook": ("num_steps", "last_step"),
    "NanTensorHook": ("loss_tensor", "fail_on_nan_loss"),
    "LoggingTensorHook": ("tensors", "every_n_iter", "every_n_secs", "at_end", "formatter"),
    "CheckpointSaverHook": (
        "checkpoint_dir", "save_secs", "save_steps", "saver", "checkpoint_basename", "scaffold",
        "listeners",
    ),
    "SummarySaverHook": (
        "save_steps", "save_secs", "output_dir", "summary_writer", "scaffold", "summary_op",
    ),
    "StepCounterHook": ("every_n_steps", "every_n_secs", "output_dir", "summary_writer"),
}  # fmt: skip
# Sessions that hooks watch, and their parameters.
MONITORED_SESSIONS = {
    "train.MonitoredTrainingSession": (
        "master", "is_chief", "checkpoint_dir", "scaffold", "hooks", "chief_only_hooks",
        "save_checkpoint_secs", "save_summaries_steps", "save_summaries_secs", "config",
        "stop_grace_period_secs", "log_step_count_steps", "max_wait_secs", "save_checkpoint_steps",
        "summary_dir",
    ),
    "train.SingularMonitoredSession": (
        "hooks", "scaffold", "master", "config", "checkpoint_dir", "stop_grace_period_secs",
        "checkpoint_filename_with_path",
    ),
}  # fmt: skip
