"""Fields of a ConfigProto that move to ``tf.config``."""
