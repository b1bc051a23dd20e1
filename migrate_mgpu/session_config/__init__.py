"""``ConfigProto`` and Session options: where they flow, and ``tf.config`` in their place."""
