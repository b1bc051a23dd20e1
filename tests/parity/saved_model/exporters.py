"""Programs that export one model in many ways, on 1.15.5 and on TF2, and it broken on purpose."""

# Weights and one input, as rows of numbers: NumPy's generators differ between versions.
COMMON = """
import sys

import numpy as np
import tensorflow as tf

out = sys.argv[1] + "/"
W = (np.arange(12).reshape(4, 3) % 5 - 2).astype(np.float32) / 3
"""
TF1 = (
    COMMON
    + """
def net(x):
    logits = tf.matmul(x, tf.get_variable("w", initializer=tf.constant(W)))
    return {"p": tf.nn.softmax(logits), "c": tf.argmax(logits, 1)}


def model_fn(features, labels, mode):
    found = net(features["x"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        output = tf.estimator.export.PredictOutput(found)
        outputs = {"serving_default": output}
        return tf.estimator.EstimatorSpec(mode, predictions=found, export_outputs=outputs)
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(found["p"])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.assign_add(step, 1))


def serve():
    x = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def serve_examples():
    examples = tf.placeholder(tf.string, [None])
    features = tf.parse_example(examples, {"x": tf.FixedLenFeature([4], tf.float32)})
    return tf.estimator.export.ServingInputReceiver(features, {"examples": examples})


def input_fn():
    return tf.data.Dataset.from_tensors(({"x": np.zeros((1, 4), np.float32)}, np.zeros(1)))


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=1)
estimator.export_savedmodel(out + "estimator", serve)
estimator.export_savedmodel(out + "examples", serve_examples, as_text=True)
for name in ("simple", "dropout"):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4])
        found = net(x)
        if name == "dropout":
            found["p"] = tf.nn.dropout(found["p"], 0.5)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, out + name, {"x": x}, found)
layer = tf.keras.layers.Dense(3, input_shape=(4,), use_bias=False, name="d")
model = tf.keras.Sequential([layer])
model.set_weights([W])
tf.saved_model.save(model, out + "keras")
"""
)
TF2 = (
    COMMON
    + """
def export(name, serve, *others, x="x", shape=(None, 4)):
    module = tf.Module()
    module.w = tf.Variable(W * (1.0001 if name == "wrong" else 1))
    signature = [tf.TensorSpec(shape, tf.float32, name=x)]
    module.serve = tf.function(lambda x: serve(x, module.w), input_signature=signature)
    tf.saved_model.save(module, out + name, signatures={"serving_default": module.serve})


def answers(x, w, dtype=tf.int64):
    logits = tf.matmul(x, w)
    return {"p": tf.nn.softmax(logits), "c": tf.argmax(logits, 1, output_type=dtype)}


export("good", answers)
export("wrong", answers)
export("renamed", answers, x="features")
export("narrow", answers, shape=(2, 4))
export("typed", lambda x, w: answers(x, w, tf.int32))
export("fewer", lambda x, w: {"p": answers(x, w)["p"]})
v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [None, 4])
    found = answers(x, v1.get_variable("w", initializer=tf.constant(W)))
    session.run(v1.global_variables_initializer())
    v1.saved_model.simple_save(session, out + "bridge", {"x": x}, found)
layers = [tf.keras.layers.Input((4,), name="d_input")]
layers.append(tf.keras.layers.Dense(3, use_bias=False, name="d"))
model = tf.keras.Sequential(layers)
model.set_weights([W])
if hasattr(tf.keras, "__version__") and tf.keras.__version__.startswith("3."):
    archive = tf.keras.export.ExportArchive()
    archive.track(model)
    signature = [tf.TensorSpec((None, 4), tf.float32, name="d_input")]
    archive.add_endpoint("serving_default", lambda x: {"d": model(x)}, input_signature=signature)
    archive.write_out(out + "keras")
    model.export(out + "exported")
else:
    model.save(out + "keras")
"""
)
