"""Steps of the model IR, written as functions of TF2 beside the author's own loop."""
