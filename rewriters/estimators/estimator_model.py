"""An Estimator and its model_fn become a Keras model, with everything that drives it.

## What it does
The network of a `model_fn` becomes a class (or a `Sequential`, where it is a chain of
layers), the `model_fn` a function of the same name that makes, compiles and returns the
model. `tf.estimator.Estimator(model_fn, ...)` becomes a call of that function under the
strategy's scope. Functions of the run that make layers become layers of their own; mode
branches, early returns and helper variables are followed, comments stay with their
statements.

A `model_fn` may be a function, one that `functools.partial` or a lambda gives more arguments,
one that another function makes, or a method, also a static or an inherited one, or an object's
`__call__`: what it reads becomes its parameters. Its parts may stand in functions of their own,
inside of it or beside it, and each mode may call the network by itself. A network may be a class
with layers in `__init__`: it becomes a Keras model. Sizes that are those of a tensor
(`get_shape_list(x)[2]`) are known in `build`; what follows a tensor whose width a variable has
becomes a layer of its own. It may be chosen by an `if`, or from a
dictionary of functions. A Keras model that is the whole network is used as it is.
`tf.feature_column.input_layer` becomes the tensors that its columns make. Where a head says what a
`model_fn` returns (`tf.contrib.estimator.binary_classification_head`, `multi_class_head` or
`regression_head`, `head.create_estimator_spec(...)`), its loss, all of its metrics and its
predictions are the model's, by TF1's names; a head with weights, texts for classes, a loss or a
name of its own keeps its program.

`tf.train.init_from_checkpoint`, with what computes its map, becomes a method of the model, which
is called where no checkpoint of its own is restored; each class gives its variables with the
names that they had in TF1. So does `warm_start_from`, a path or `WarmStartSettings` of all that is
trained.

Several Estimators, also of several programs, may share functions, classes and optimizers: these
become the same for all. Where programs that stay TF1's need such a module as it is
(`modeling.py`), it stays, and what the migrated ones take of it stands beside it, in
`modeling_tf2.py`, which they import instead.

Where loss or metrics look at several values of the network, or at the features, `call`
returns those values, and the model has a `train_step` and a `test_step` of its own. So does
one whose network is called again, by `reuse`, to test: its evaluation's loss stays the
training network's. An evaluation whose loss is another one than training's has a method for it.

## Why
TF 2.16 and later have no Estimator, and `tensorflow_estimator` does not import there. Keras
under `Strategy.scope()` is what TF2 trains with on several GPUs.

## Safety
All of an Estimator moves, or nothing does: a statement that is not understood keeps its
program as it was, and the finding names it. The losses of every step, the weights and the
evaluation of the fixtures are equal to TensorFlow 1.15.5's on 1, 2 and 4 devices (the docs'
page on Estimators has the figures). What goes away with a remark: summaries, also those in the
network's functions, and logging hooks (Keras logs and writes them itself), `export_outputs`,
prints of TF1's tensors and of no more than a text. Where TF1 itself did less than its
author wrote, a remark says so: weight decay under MirroredStrategy
(`get_regularization_loss`), batch normalization whose UPDATE_OPS nothing ran. Checkpoints
that TF1 wrote do not load.

## References
`tf.estimator.Estimator`, `tf.keras.Model`, `tf.distribute.Strategy.scope`
"""

from __future__ import annotations

from migrate_mgpu.core.registry import Case, Rule
from migrate_mgpu.models.front.rewriters import ModelRewriter

RULE = Rule(
    code="MGPU401",
    name="estimator-model",
    summary="the Estimator is a Keras model",
)

CASES = (
    Case(
        "a network with dropout, under a strategy",
        """\
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat()


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.nn.l2_normalize(features, axis=1)
    for units in params['hidden_units']:
        net = tf.layers.dense(net, units, activation=tf.nn.relu)
        net = tf.layers.dropout(net, 0.1, training=is_training)
    logits = tf.layers.dense(net, 3)
    # Cross-entropy of the classes.
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(params['rate']).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


strategy = tf.distribute.MirroredStrategy()
config = tf.estimator.RunConfig(train_distribute=strategy)
params = {'hidden_units': [16, 8], 'rate': 0.001}
estimator = tf.estimator.Estimator(model_fn, config=config, params=params)
estimator.train(input_fn, steps=100)
""",
        """\
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat()


class Model(tf.keras.Model):
    def __init__(self, params):
        super().__init__()
        self.dense_layers = []
        self.dropout_layers = []
        for units in params['hidden_units']:
            self.dense_layers.append(tf.keras.layers.Dense(units, activation=tf.nn.relu))
            self.dropout_layers.append(tf.keras.layers.Dropout(0.1))
        self.logits = tf.keras.layers.Dense(3)

    def call(self, features, training=False):
        net = tf.nn.l2_normalize(features, axis=1)
        for dense, dropout in zip(self.dense_layers, self.dropout_layers):
            net = dense(net)
            net = dropout(net, training=training)
        logits = self.logits(net)
        return logits


def model_fn(params):
    model = Model(params)
    # Cross-entropy of the classes.
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(params['rate'], epsilon=1e-8)
    model.compile(optimizer=optimizer, loss=loss)
    return model


strategy = tf.distribute.MirroredStrategy()
params = {'hidden_units': [16, 8], 'rate': 0.001}
with strategy.scope():
    estimator = model_fn(params=params)
estimator.fit(
    strategy.distribute_datasets_from_function(lambda context: input_fn()),
    steps_per_epoch=100,
    verbose=0)
""",
    ),
    Case(
        "a network that is not all in functions",
        """\
import tensorflow as tf


class Network(object):
    def build(self, features):
        return tf.layers.dense(features, 3)


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat()


def model_fn(features, labels, mode):
    network = Network()
    logits = network.build(features)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(input_fn, steps=100)
""",
        refused="`Network.build` is more than the layers of a network",
    ),
    Case(
        "a loss of the network's inside",
        """\
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8, 1])
    return tf.data.Dataset.from_tensors(data).repeat()


def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features, 3)
    outputs = tf.layers.dense(hidden, 1)
    loss = tf.losses.mean_squared_error(labels, outputs) + tf.reduce_mean(tf.abs(hidden))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn)
estimator.train(input_fn, steps=100)
""",
        """\
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8, 1])
    return tf.data.Dataset.from_tensors(data).repeat()


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(3)
        self.dense_1 = tf.keras.layers.Dense(1)
        self.mean_loss = tf.keras.metrics.Mean(name='loss')

    def call(self, features, training=False):
        hidden = self.dense(features)
        outputs = self.dense_1(hidden)
        return hidden, outputs

    @property
    def metrics(self):
        return [self.mean_loss]

    def batch_loss(self, labels, hidden, outputs):
        return tf.reduce_mean(tf.keras.losses.MSE(labels, outputs)) + tf.reduce_mean(tf.abs(hidden))

    def train_step(self, data):
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            hidden, outputs = self(features, training=True)
            loss = self.batch_loss(labels, hidden, outputs)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.mean_loss.update_state(loss)
        return {'loss': self.mean_loss.result()}

    def test_step(self, data):
        features, labels, _ = tf.keras.utils.unpack_x_y_sample_weight(data)
        hidden, outputs = self(features, training=False)
        self.mean_loss.update_state(self.batch_loss(labels, hidden, outputs))
        return {metric.name: metric.result() for metric in self.metrics}


def model_fn():
    model = Model()
    optimizer = tf.keras.optimizers.Adam(0.1, epsilon=1e-8)
    model.compile(optimizer=optimizer)
    return model


estimator = model_fn()
estimator.fit(input_fn(), steps_per_epoch=100, verbose=0)
""",
    ),
    Case(
        "what another training left",
        """\
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat()


def model_fn(features, labels, mode, params):
    with tf.variable_scope('net'):
        net = tf.layers.dense(features, 16, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 3, name='logits')
    tf.train.init_from_checkpoint(params['begin'], {'encoder/': 'net/'})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(1e-3)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(model_fn, 'tuned', params={'begin': 'pretrained'})
estimator.train(input_fn, steps=100)
""",
        '''\
import tensorflow as tf


def input_fn():
    data = tf.ones([8, 4]), tf.zeros([8], tf.int32)
    return tf.data.Dataset.from_tensors(data).repeat()


class Model(tf.keras.Model):
    def __init__(self, params):
        super().__init__()
        self.params = params
        self.dense = tf.keras.layers.Dense(16, activation=tf.nn.relu)
        self.logits = tf.keras.layers.Dense(3, name='logits')

    def call(self, features, training=False):
        with tf.name_scope('net'):
            net = self.dense(features)
        logits = self.logits(net)
        return logits

    def tf1_variables(self, scope=''):
        """Its variables, with the names that TF1 gave them."""
        yield scope + 'net/dense/kernel', self.dense.kernel
        yield scope + 'net/dense/bias', self.dense.bias
        yield scope + 'logits/kernel', self.logits.kernel
        yield scope + 'logits/bias', self.logits.bias

    def init_from_tf1(self):
        """First values, where no checkpoint is restored."""
        variables = dict(self.tf1_variables())
        init_from_checkpoint(self.params['begin'], {'encoder/': 'net/'}, variables)


def init_from_checkpoint(checkpoint, assignment_map, variables):
    """Gives variables what a checkpoint of TF1's has, by their names or by whole scopes."""
    reader = tf.train.load_checkpoint(checkpoint)
    if reader.has_tensor('_CHECKPOINTABLE_OBJECT_GRAPH'):
        raise ValueError(
            'a TF2 checkpoint: `migrate-mgpu checkpoint --to-tf1` converts it'
        )
    for old, new in assignment_map.items():
        new = getattr(new, 'name', new).split(':')[0]
        if new in variables:
            variables[new].assign(reader.get_tensor(old))
            continue
        if not (old.endswith('/') and new.endswith('/')):
            raise ValueError(new + ' is neither a variable nor a scope')
        old, new = old.lstrip('/'), new.lstrip('/')
        for name, variable in variables.items():
            if name.startswith(new):
                variable.assign(reader.get_tensor(old + name[len(new):]))


def model_fn(params):
    model = Model(params)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam(1e-3, epsilon=1e-8)
    model.compile(optimizer=optimizer, loss=loss)
    return model


estimator = model_fn(params={'begin': 'pretrained'})
train_dataset = input_fn()
# The variables must exist before a checkpoint can be restored into them.
tf.function(estimator).get_concrete_function(train_dataset.element_spec[0])
estimator.optimizer.build(estimator.trainable_variables)
checkpoint = tf.train.Checkpoint(model=estimator)
manager = tf.train.CheckpointManager(checkpoint, 'tuned', max_to_keep=5)
if manager.latest_checkpoint:
    reader = tf.train.load_checkpoint(manager.latest_checkpoint)
    if reader.has_tensor('global_step'):
        raise ValueError(
            'a TF1 checkpoint: `migrate-mgpu checkpoint` converts it')
    checkpoint.restore(manager.latest_checkpoint).assert_existing_objects_matched()
else:
    estimator.init_from_tf1()
estimator.fit(train_dataset, steps_per_epoch=100, verbose=0)
manager.save(estimator.optimizer.iterations)
''',
    ),
)

REWRITER = ModelRewriter(RULE, CASES)
