"""Arguments of a RunConfig that have no form in a Keras program."""

# What an argument said that has no place in the program any more.
LEFT_OUT = {
    "save_summary_steps": ": tf.keras.callbacks.TensorBoard(folder, update_freq=n) in fit's "
    "callbacks writes the loss",
    "log_step_count_steps": ": Keras's progress bar shows the time of a step",
    "session_creation_timeout_secs": ": there is no session",
    "experimental_max_worker_delay_secs": ": there are no workers",
}
# Those that a Keras program cannot follow.
REFUSED = {
    "device_fn": "use tf.device in the network",
    "protocol": "start the workers by TF_CONFIG",
    "experimental_distribute": "give the strategy as train_distribute",
}
