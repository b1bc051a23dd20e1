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
    "stop_if_no_increase_hook": "use tf.keras.callbacks.EarlyStopping(mode='max')",
    "stop_if_no_decrease_hook": "use tf.keras.callbacks.EarlyStopping(mode='min')",
    "stop_if_higher_hook": "use a tf.keras.callbacks.Callback with an on_test_end",
    "stop_if_lower_hook": "use a tf.keras.callbacks.Callback with an on_test_end",
}
# What makes a hook that stops a training early.
EARLY_STOPPING = (
    "estimator.experimental.make_early_stopping_hook",
    "contrib.estimator.make_early_stopping_hook",
)
