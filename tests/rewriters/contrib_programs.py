"""Programs of TF1 that use ``tf.contrib``: each builds a graph and returns tensors to compare.

Arrays named ``x2``, ``x4``, ``labels``, ``onehot`` are given by ``contrib_runner.py``. What starts
with ``INITIAL`` keeps the initial values that its initializers draw; all others get the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.rewriters import contrib_sequences

_SLIM = "import tensorflow.contrib.slim as slim\n"
_LAYERS = "layers = tf.contrib.layers\n"

# Which TF 1.15 has too, so that both its own and what is written for them run there.
_FLIPPED = """
    x, whole = tf.constant(x2), tf.constant(onehot)
    return [tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(x[:, :3], whole),
            tf.contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits(
                x[:, :3], whole, -1, 'named'),
            tf.contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(x, labels),
            tf.contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(
                logits=x[:, :3], targets=whole)]
"""
# Name, imports, body.
_BODIES = (
    ("conv2d", _SLIM, """
    net = slim.conv2d(tf.constant(x4), 4, [3, 3])
    net = slim.conv2d(net, 5, [3, 3], stride=2, padding='VALID', activation_fn=tf.nn.elu)
    return [net, slim.convolution2d(net, 3, 1), slim.conv2d(net, 3, 1, rate=2)]
"""),
    ("other convolutions", _SLIM, """
    x = tf.constant(x4)
    return [slim.conv2d_transpose(x, 4, [3, 3], 2), slim.separable_conv2d(x, 4, [3, 3], 2),
            slim.separable_convolution2d(x, None, [3, 3], 1), slim.conv2d_in_plane(x, 3),
            slim.convolution2d_transpose(x, 4, 2), slim.convolution(x, 2, [3, 3]),
            slim.convolution2d_in_plane(x, 2)]
"""),
    ("conv1d and conv3d", _SLIM, """
    x = tf.constant(x4)
    x5 = tf.expand_dims(x, 1)
    return [tf.contrib.layers.conv1d(x[:, 0], 4, 3), slim.conv3d(x5, 2, [1, 3, 3]),
            slim.convolution3d(x5, 2, [1, 2, 2]), slim.conv3d_transpose(x5, 2, [1, 2, 2]),
            slim.avg_pool3d(x5, [1, 2, 2]), slim.max_pool3d(x5, [1, 2, 2])]
"""),
    ("pools and shapes", _SLIM, """
    x = tf.constant(x4)
    return [slim.max_pool2d(x, [2, 2]), slim.max_pool2d(x, [3, 3], stride=1, padding='SAME'),
            slim.avg_pool2d(x, [2, 2], 2), slim.flatten(x), slim.pool(x, [2, 2], 'AVG'),
            slim.softmax(x), slim.spatial_softmax(x), slim.unit_norm(x, 3), slim.maxout(x, 3),
            slim.one_hot_encoding(tf.constant(labels), 3)]
"""),
    ("fully_connected", _SLIM, """
    net = slim.fully_connected(tf.constant(x2), 4, weights_regularizer=slim.l2_regularizer(0.1))
    net = slim.stack(net, slim.fully_connected, [5, 4], scope='stack')
    net = slim.repeat(net, 2, slim.fully_connected, 4)
    net = slim.bias_add(net)
    return [net, slim.linear(net, 2), slim.relu(net, 2), slim.relu6(net, 2),
            slim.elu(net, 2), slim.losses.get_regularization_losses()[0]]
"""),
    ("dropout", _SLIM, """
    x = tf.constant(x4)
    return [slim.dropout(x, 0.5, is_training=False), slim.dropout(x, 1.0),
            tf.reduce_mean(tf.to_float(tf.equal(slim.dropout(tf.ones([2000]), 0.5), 2.0))) > 0.4]
"""),
    ("batch_norm of images", _SLIM, """
    x = tf.constant(x4)
    a = slim.batch_norm(x, scale=True)
    b = slim.batch_norm(a, is_training=False, scope='eval')
    c = slim.conv2d(b, 3, 1, normalizer_fn=slim.batch_norm,
                    normalizer_params={'decay': 0.9, 'epsilon': 0.01, 'center': False})
    return [a, b, c, slim.batch_norm(c, fused=False, activation_fn=tf.nn.relu)]
"""),
    ("batch_norm that updates in place", _SLIM, """
    x = tf.constant(x4)
    return [slim.batch_norm(x, updates_collections=None, decay=0.8),
            slim.batch_norm(x, updates_collections=None, scale=True, zero_debias_moving_mean=True)]
"""),
    ("batch_norm of rows", _SLIM, """
    x = tf.constant(x2)
    net = slim.batch_norm(x, scale=True, decay=0.7)
    net = slim.fully_connected(net, 4, normalizer_fn=slim.batch_norm)
    training = tf.placeholder_with_default(True, [])
    return [net, slim.batch_norm(net, updates_collections=None, is_training=training),
            slim.batch_norm(net, is_training=tf.constant(True)),
            slim.batch_norm(net, is_training=tf.constant(False), fused=False)]
"""),
    ("batch_norm in an arg_scope", _SLIM, """
    with slim.arg_scope([slim.conv2d, slim.fully_connected], normalizer_fn=slim.batch_norm,
                        weights_initializer=slim.variance_scaling_initializer()):
        with slim.arg_scope([slim.batch_norm], is_training=True, decay=0.5) as scope:
            a = slim.conv2d(tf.constant(x4), 3, 3)
    with slim.arg_scope(scope):
        b = slim.conv2d(a, 3, 3)
    known = [float(slim.has_arg_scope(slim.conv2d)), float(bool(slim.current_arg_scope()))]
    same = slim.arg_scope_func_key(slim.conv2d) == slim.arg_scope_func_key(slim.convolution2d)
    known += [float(same), float(len(slim.arg_scoped_arguments(slim.conv2d)))]
    return [a, b, tf.constant(known)]
"""),
    ("normalizations", _SLIM + _LAYERS, """
    return [slim.layer_norm(tf.constant(x2)), layers.layer_norm(tf.constant(x4), scale=False),
            layers.instance_norm(tf.constant(x4))]
"""),
    ("a function of one's own in an arg_scope", _SLIM, """
    @slim.add_arg_scope
    def double(x, factor=2.0):
        return x * factor
    with slim.arg_scope([double], factor=3.0):
        return [double(tf.constant(x2))]
"""),
    ("INITIAL xavier", "", """
    tf.set_random_seed(1)
    init = tf.contrib.layers.xavier_initializer(seed=3)
    return [tf.get_variable('a', [7, 5], initializer=init),
            tf.get_variable('b', [3, 3, 4, 5], initializer=init),
            tf.get_variable('c', [6],
                            initializer=tf.contrib.layers.xavier_initializer_conv2d(seed=4))]
"""),
    ("INITIAL initializers", _LAYERS, """
    tf.set_random_seed(1)
    v = layers.variance_scaling_initializer
    return [tf.get_variable('a', [7, 5], initializer=layers.xavier_initializer(False, seed=3)),
            tf.get_variable('b', [3, 3, 4, 5], initializer=v(seed=3)),
            tf.get_variable('c', [8, 5], initializer=v(1.0, 'FAN_AVG', True, seed=3)),
            tf.get_variable('d', [8, 5], initializer=layers.xavier_initializer_conv2d(True, 5))]
"""),
    ("INITIAL layers", _SLIM, """
    tf.set_random_seed(1)
    init = slim.initializers.xavier_initializer(seed=2)
    other = slim.initializers.variance_scaling_initializer(seed=2)
    net = slim.conv2d(tf.constant(x4), 4, 3, weights_initializer=init)
    return [slim.fully_connected(slim.flatten(net), 3, weights_initializer=other,
                                 biases_initializer=tf.constant_initializer(0.1))]
"""),
    ("regularizers", _LAYERS + _SLIM, """
    w = tf.get_variable('w', [4, 3], regularizer=layers.l2_regularizer(0.3))
    u = tf.get_variable('u', [5], regularizer=layers.l1_regularizer(0.2))
    both = layers.l1_l2_regularizer(0.1, 0.2)
    total = layers.sum_regularizer([layers.l1_regularizer(0.5), layers.l2_regularizer(0.5)])
    loss = layers.apply_regularization(layers.l2_regularizer(0.7), [w, u])
    return [loss, both(w), total(u), slim.regularizers.l2_regularizer(0.4)(w),
            slim.regularizers.l1_regularizer(0.3)(w),
            tf.losses.get_regularization_loss()]
"""),
    ("variables", _SLIM + "framework = tf.contrib.framework\n", """
    a = slim.model_variable('a', [3], initializer=tf.zeros_initializer())
    b = slim.variable('b', [2], trainable=False, initializer=tf.ones_initializer())
    step = slim.get_or_create_global_step()
    assert framework.get_global_step() is step
    with tf.variable_scope('inner'):
        c = framework.model_variable('c', [2])
    found = [slim.get_model_variables(), slim.get_variables(), slim.get_trainable_variables(),
             slim.get_variables_to_restore(exclude=['b']), framework.get_variables('inner'),
             slim.get_variables_by_name('c'), framework.get_variables_by_suffix('c'),
             [framework.get_unique_variable('a')], slim.get_local_variables(),
             framework.filter_variables(slim.get_variables(), exclude_patterns=['inner'])]
    names = '|'.join(','.join(v.op.name for v in some) for some in found)
    value = {'a': np.array([1.0, 2.0, 3.0])}
    assign, feed = slim.assign_from_values(value)
    assert callable(slim.assign_from_values_fn(value))
    with tf.control_dependencies([a + 0]):
        return [tf.constant([float(ord(letter)) for letter in names]), a, b, c]
"""),
    ("create_global_step", _SLIM, """
    step = slim.create_global_step()
    return [tf.to_float(step + 1)]
"""),
    ("a checkpoint", _SLIM, """
    import os
    import tempfile
    a = slim.model_variable('a', [3], initializer=tf.ones_initializer())
    path = os.path.join(tempfile.mkdtemp(), 'model')
    with tf.Session() as sess:
        sess.run(a.assign([4.0, 5.0, 6.0]))
        tf.train.Saver([a]).save(sess, path)
    names = tf.contrib.framework.list_variables(path)
    reader = tf.contrib.framework.load_checkpoint(path)
    value = tf.contrib.framework.load_variable(path, 'a')
    restore = slim.assign_from_checkpoint_fn(path, [a])
    op, feed = slim.assign_from_checkpoint(path, [a])
    with tf.Session() as sess:
        restore(sess)
        first = sess.run(a)
        sess.run(op, feed)
        second = sess.run(a)
    return [tf.constant(first), tf.constant(second), tf.constant(value),
            tf.constant(reader.get_tensor('a')), tf.constant([float(len(names))])]
"""),
    ("losses", _SLIM, """
    p = slim.fully_connected(tf.constant(x2), 3, activation_fn=None)
    t = tf.constant(onehot)
    slim.losses.add_loss(tf.reduce_sum(p) * 0.1)
    found = [slim.losses.absolute_difference(p, t), slim.losses.log_loss(tf.sigmoid(p), t),
             slim.losses.mean_squared_error(p, t), slim.losses.hinge_loss(p, t),
             slim.losses.mean_pairwise_squared_error(p, t),
             slim.losses.sigmoid_cross_entropy(p, t, label_smoothing=0.1),
             slim.losses.softmax_cross_entropy(p, t, weights=0.5),
             slim.losses.sparse_softmax_cross_entropy(p, tf.constant(labels)),
             slim.losses.cosine_distance(tf.nn.l2_normalize(p, 1), tf.nn.l2_normalize(t + 1, 1), 1),
             slim.losses.compute_weighted_loss(tf.square(p))]
    found.append(tf.constant([float(len(slim.losses.get_losses()))]))
    return [*found, slim.losses.get_total_loss()]
"""),
    ("contrib.losses", "", """
    p = tf.contrib.layers.fully_connected(tf.constant(x2), 3, activation_fn=None)
    return [tf.contrib.losses.softmax_cross_entropy(p, tf.constant(onehot)),
            tf.contrib.losses.get_total_loss()]
"""),
    ("TRAIN create_train_op with multipliers", _SLIM, """
    net = slim.fully_connected(tf.constant(x2), 3)
    loss = tf.losses.softmax_cross_entropy(onehot, net)
    return [slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1),
                                          gradient_multipliers={'fully_connected/weights': 2.0})]
"""),
    ("TRAIN create_train_op", _SLIM, """
    net = slim.fully_connected(tf.constant(x2), 3, normalizer_fn=slim.batch_norm)
    loss = tf.losses.softmax_cross_entropy(onehot, net)
    rate = slim.learning.multiply_gradients
    return [slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.1, 0.9),
                                          clip_gradient_norm=0.5,
                                          gradient_multipliers={'fully_connected/weights': 2.0}),
            tf.train.get_global_step()]
"""),
    ("learning.train", _SLIM, """
    import tempfile
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default():
        net = slim.fully_connected(tf.constant(x2), 3, activation_fn=None,
                                   weights_initializer=tf.constant_initializer(0.1))
        loss = tf.losses.softmax_cross_entropy(onehot, net)
        step = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.5))
        # The supervisor's threads save too: late ones made an older checkpoint the latest.
        last = slim.learning.train(step, folder, number_of_steps=4, log_every_n_steps=1,
                                   save_interval_secs=0, save_summaries_secs=0)
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
    return [tf.constant(last), tf.constant(reader.get_tensor('fully_connected/weights'))]
"""),
    ("TRAIN training.create_train_op", _SLIM, """
    net = slim.fully_connected(tf.constant(x2), 3, activation_fn=None)
    loss = tf.losses.softmax_cross_entropy(onehot, net)
    step = tf.train.get_or_create_global_step()
    return [tf.contrib.training.create_train_op(loss, tf.train.AdamOptimizer(0.1)), step]
"""),
    ("TRAIN gradients", _SLIM, """
    net = slim.fully_connected(tf.constant(x2), 3, activation_fn=None)
    loss = tf.losses.softmax_cross_entropy(onehot, net)
    opt = tf.train.GradientDescentOptimizer(0.5)
    grads = slim.learning.clip_gradient_norms(opt.compute_gradients(loss), 0.1)
    return [opt.apply_gradients(grads), loss]
"""),
    ("TRAIN optimize_loss", "", """
    net = tf.contrib.layers.fully_connected(tf.constant(x2), 3, activation_fn=None)
    loss = tf.losses.softmax_cross_entropy(onehot, net)
    step = tf.train.get_or_create_global_step()
    return [tf.contrib.layers.optimize_loss(loss, step, 0.3, 'Momentum' if False else 'Adagrad',
                clip_gradients=0.2, learning_rate_decay_fn=lambda rate, s: rate * 0.5,
                summaries=['loss', 'learning_rate', 'gradients', 'gradient_norm']), step]
"""),
    ("TRAIN embeddings by optimize_loss", "", """
    table = tf.get_variable('table', [5, 4])
    net = tf.contrib.layers.fully_connected(tf.nn.embedding_lookup(table, labels), 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net)
    step = tf.train.get_or_create_global_step()
    return [tf.contrib.layers.optimize_loss(loss, step, 0.3, tf.train.AdamOptimizer,
                clip_gradients=1.0, gradient_multipliers={'table': 0.5}), step]
"""),
    ("metrics", _SLIM, """
    p, t = tf.constant(labels), tf.constant(labels[::-1].copy())
    f, g = tf.constant(x2), tf.constant(x2 * 0.5)
    values, updates = slim.metrics.aggregate_metric_map({
        'accuracy': slim.metrics.streaming_accuracy(p, t),
        'mean': tf.contrib.metrics.streaming_mean(f),
        'absolute': slim.metrics.streaming_mean_absolute_error(f, g),
        'squared': slim.metrics.streaming_mean_squared_error(f, g),
        'precision': slim.metrics.streaming_precision(p > 0, t > 0),
        'recall': slim.metrics.streaming_recall(p > 0, t > 0),
        'iou': tf.contrib.metrics.streaming_mean_iou(p, t, 3),
    })
    values2, updates2 = slim.metrics.aggregate_metrics(
        slim.metrics.streaming_recall_at_k(tf.constant(x2), tf.cast(t, tf.int64), 1),
        tf.contrib.metrics.sparse_recall_at_top_k(
            labels=tf.cast(t, tf.int64)[:, None], weights=tf.constant(x2[:, 0] > 0.1),
            top_k_predictions=tf.nn.top_k(tf.constant(x2), 2)[1], name='hits'))
    return [updates[key] for key in sorted(updates)] + list(updates2)
"""),
    ("collections", _SLIM, """
    with slim.arg_scope([slim.conv2d], outputs_collections='ends'):
        slim.conv2d(tf.constant(x4), 2, 3, scope='first')
        slim.conv2d(tf.constant(x4), 3, 3, scope='second')
    ends = slim.utils.convert_collection_to_dict('ends')
    named = slim.utils.collect_named_outputs('others', 'name', tf.constant(x2))
    size = slim.utils.last_dimension(tf.constant(x2).get_shape())
    size += slim.utils.channel_dimension(tf.constant(x4).get_shape(), 'channels_first')
    slim.model_analyzer.analyze_vars(tf.trainable_variables(), print_info=False)
    slim.model_analyzer.analyze_ops(tf.get_default_graph())
    return [ends['first'], ends['second'], named, tf.constant([float(size)])]
"""),
    ("summaries", _SLIM + _LAYERS, """
    net = slim.fully_connected(tf.constant(x2), 3)
    layers.summarize_activation(net)
    layers.summarize_tensor(net)
    layers.summarize_tensors([net])
    tf.add_to_collection(tf.GraphKeys.ACTIVATIONS, net)
    layers.summarize_collection('trainable_variables')
    layers.summarize_activations()
    merged = tf.get_collection(tf.GraphKeys.SUMMARIES)
    return [net, tf.constant([float(len(merged))])]
"""),
    ("examples", _SLIM, """
    import os
    import tempfile
    image = tf.image.encode_png(tf.constant((np.abs(x4[0]) * 255).astype(np.uint8)))
    with tf.Session() as sess:
        image = sess.run(image)
    path = os.path.join(tempfile.mkdtemp(), 'images.tfrecord')
    writer = tf.python_io.TFRecordWriter(path)
    features = {
        'image/encoded': tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
        'image/format': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'png'])),
        'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[2])),
        'rows': tf.train.Feature(int64_list=tf.train.Int64List(value=[1])),
        'box/ymin': tf.train.Feature(float_list=tf.train.FloatList(value=[0.1])),
        'box/xmin': tf.train.Feature(float_list=tf.train.FloatList(value=[0.2])),
        'box/ymax': tf.train.Feature(float_list=tf.train.FloatList(value=[0.3])),
        'box/xmax': tf.train.Feature(float_list=tf.train.FloatList(value=[0.4])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    for _ in range(3):
        writer.write(example)
    writer.close()
    keys = {
        'image/encoded': tf.FixedLenFeature((), tf.string, default_value=''),
        'image/format': tf.FixedLenFeature((), tf.string, default_value='png'),
        'label': tf.FixedLenFeature([1], tf.int64, default_value=tf.zeros([1], dtype=tf.int64)),
        'rows': tf.FixedLenFeature([1], tf.int64),
        'box/ymin': tf.VarLenFeature(tf.float32), 'box/xmin': tf.VarLenFeature(tf.float32),
        'box/ymax': tf.VarLenFeature(tf.float32), 'box/xmax': tf.VarLenFeature(tf.float32),
    }
    handlers = {
        'image': slim.tfexample_decoder.Image(shape=list(x4.shape[1:]), channels=3),
        'label': slim.tfexample_decoder.Tensor('label', shape_keys='rows'),
        'box': slim.tfexample_decoder.BoundingBox(['ymin', 'xmin', 'ymax', 'xmax'], 'box/'),
        'both': slim.tfexample_decoder.ItemHandlerCallback(
            ['label'], lambda found: found['label'] * 10),
    }
    assert issubclass(slim.tfexample_decoder.Tensor, slim.tfexample_decoder.ItemHandler)
    decoder = slim.tfexample_decoder.TFExampleDecoder(keys, handlers)
    dataset = slim.dataset.Dataset(path, tf.TFRecordReader, decoder, 3, {'image': 'an image'})
    provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False)
    image, label, box, both = provider.get(['image', 'label', 'box', 'both'])
    queue = slim.prefetch_queue.prefetch_queue([tf.to_float(image), label], capacity=2)
    first, second = queue.dequeue()
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with slim.queues.QueueRunners(sess):
            found = sess.run([first, second, box, both])
    return [tf.constant(value) for value in found]
"""),
    ("cells", "from tensorflow.contrib import rnn\n", """
    x = tf.constant(x4[:, 0])
    cell = rnn.MultiRNNCell([rnn.BasicLSTMCell(4, forget_bias=0.5), rnn.LSTMCell(4, num_proj=3)])
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    cell = rnn.DropoutWrapper(rnn.ResidualWrapper(rnn.GRUCell(3)), output_keep_prob=1.0)
    steps = tf.unstack(x, axis=1)
    others, last = rnn.static_rnn(cell, steps, dtype=tf.float32, scope='static')
    both, _, _ = rnn.static_bidirectional_rnn(
        rnn.BasicRNNCell(2), rnn.BasicRNNCell(2), steps, dtype=tf.float32)
    assert issubclass(rnn.GRUCell, rnn.RNNCell) and isinstance(state[0], rnn.LSTMStateTuple)
    return [outputs, others[-1], last, both[0]]
"""),
    ("private paths", """\
from tensorflow.contrib.framework.python.ops import add_arg_scope, arg_scope
from tensorflow.contrib.framework.python.ops import variables as v
from tensorflow.contrib.layers.python.layers import initializers, layers, utils
from tensorflow.contrib.slim.python.slim.data import tfexample_decoder
""", """
    @add_arg_scope
    def double(x, factor=2.0):
        return x * factor
    with arg_scope([double], factor=3.0):
        found = [double(tf.constant(x2))]
    w = v.model_variable('w', [4], initializer=tf.ones_initializer())
    init = initializers.xavier_initializer()
    net = layers.conv2d(tf.constant(x4), 3, 3, weights_initializer=init)
    assert tfexample_decoder.Tensor('label').keys
    return found + [w, utils.collect_named_outputs('ends', 'net', net)]
"""),
    ("signal", "", """
    x = tf.constant(x2[0])
    spectrum = tf.contrib.signal.stft(x, 4, 2)
    return [tf.abs(spectrum), tf.contrib.signal.inverse_stft(spectrum, 4, 2),
            tf.contrib.signal.frame(x, 2, 1), tf.contrib.signal.hann_window(8)]
"""),
    ("distributions", "", """
    normal = tf.contrib.distributions.Normal(loc=tf.constant(x2), scale=2.0)
    other = tf.contrib.distributions.Categorical(logits=tf.constant(x2))
    return [normal.log_prob(0.3), normal.cdf(0.1), other.log_prob(tf.constant(labels)),
            other.entropy(), tf.contrib.distributions.kl_divergence(normal, normal)]
"""),
    ("nest", "", """
    nest = tf.contrib.framework.nest
    found = nest.map_structure(lambda value: value + 1.0, {'b': x2, 'a': (x4,)})
    nest.assert_same_structure(found, {'a': (0,), 'b': 0})
    assert nest.is_sequence([1]) and not nest.is_sequence(1)
    packed = nest.pack_sequence_as({'b': 0, 'a': (1,)}, nest.flatten(found))
    return [tf.constant(packed['b']), tf.constant(packed['a'][0])]
"""),
    ("modes", "", """
    modes = [tf.contrib.learn.ModeKeys.TRAIN, tf.contrib.learn.ModeKeys.EVAL,
             tf.contrib.learn.ModeKeys.INFER]
    return [tf.constant([float(ord(letter)) for letter in ''.join(modes)])]
"""),
    ("data", "", """
    data = tf.data.Dataset.range(12)
    a = data.apply(tf.contrib.data.map_and_batch(lambda value: value * 2, 4))
    b = data.apply(tf.contrib.data.group_by_window(lambda v: v % 2, lambda _, d: d.batch(2), 2))
    c = data.apply(tf.contrib.data.parallel_interleave(
        lambda v: tf.data.Dataset.from_tensors(v), cycle_length=1))
    d = data.apply(tf.contrib.data.shuffle_and_repeat(1, 2))
    e = data.batch(3).apply(tf.contrib.data.unbatch()).apply(tf.contrib.data.ignore_errors())
    f = data.apply(tf.contrib.data.enumerate_dataset()).map(lambda i, v: i + v)
    g = data.map(lambda v: v % 3).apply(tf.contrib.data.unique())
    h = data.apply(tf.contrib.data.scan(tf.constant(0, tf.int64), lambda s, v: (s + v, s + v)))
    # One function a statement: 1.15's AutoGraph takes the first for the others, where it can read.
    i = data.map(lambda v: tf.ones([v % 3]))
    size = tf.contrib.data.bucket_by_sequence_length(lambda v: tf.shape(v)[0], [2], [2, 2])
    i = i.apply(size).map(lambda v: tf.shape(v)[1])
    found = []
    for one in (a, b, c, d, e, f, g, h, i):
        pull = one.prefetch(tf.contrib.data.AUTOTUNE).make_one_shot_iterator().get_next()
        with tf.Session() as sess:
            for _ in range(2):
                found.append(tf.constant(np.asarray(sess.run(pull), np.float32)))
    return found
"""),
    ("data of several sources", "import tensorflow.contrib.data as data\n", """
    import os
    import tempfile
    folder = tempfile.mkdtemp()
    a = data.choose_from_datasets(
        [data.Counter(), data.Counter(10, 2), data.Counter(start=5, dtype=tf.int32).map(
            lambda v: tf.cast(v, tf.int64))],
        tf.data.Dataset.from_tensor_slices(np.array([2, 0, 1, 0, 2, 1], np.int64)).repeat())
    b = data.sample_from_datasets([data.Counter(), data.Counter(10)], [1.0, 0.0], seed=3)
    first = data.get_single_element(a.batch(4).take(1))
    written = os.path.join(folder, 'rows.csv')
    with open(written, 'w') as file:
        file.write('x,y\\n' + ''.join('%d,%d\\n' % (i, 10 - i) for i in range(6)))
    c = data.make_csv_dataset(
        written, 2, column_defaults=[tf.float32, tf.float32], label_name='y', shuffle=False,
        num_epochs=1).map(lambda rows, labels: rows['x'] * 100.0 + labels)
    record = os.path.join(folder, 'rows')
    with tf.python_io.TFRecordWriter(record) as writer:
        for i in range(6):
            values = tf.train.Feature(float_list=tf.train.FloatList(value=[i, i * i]))
            example = tf.train.Example(features=tf.train.Features(feature={'v': values}))
            writer.write(example.SerializeToString())
    features = {'v': tf.FixedLenFeature([2], tf.float32)}
    d = data.make_batched_features_dataset(
        record, 3, features, reader=tf.data.TFRecordDataset, num_epochs=1, shuffle=False,
        drop_final_batch=True).map(lambda row: row['v'])
    e = tf.data.TFRecordDataset(record).batch(2).apply(
        data.parse_example_dataset(features)).map(lambda row: row['v'])
    found = [tf.cast(first, tf.float32)]
    for one in (a, b, c, d, e):
        pull = one.make_one_shot_iterator().get_next()
        with tf.Session() as sess:
            for _ in range(2):
                found.append(tf.constant(np.asarray(sess.run(pull), np.float32)))
    return found
"""),
    ("steps of contrib", """\
from tensorflow.contrib.framework.python.ops import variables
from tensorflow.contrib import framework, slim
""", """
    with tf.Graph().as_default():
        alone = framework.create_global_step().op.name
    made = slim.create_global_step()
    same = [framework.get_or_create_global_step(), variables.get_or_create_global_step(),
            framework.get_global_step(), slim.get_global_step(), slim.get_or_create_global_step()]
    assert alone == made.op.name and all(one is made for one in same)
    return [tf.cast(framework.get_global_step() + 2, tf.float32)]
"""),
    ("decay by contrib.keras", "from tensorflow.contrib.keras import regularizers\n", """
    h = tf.layers.dense(x2, 4, kernel_regularizer=regularizers.l2(0.3), name='a')
    h = tf.layers.dense(h, 3, kernel_regularizer=regularizers.l1(l=0.2), name='b')
    both = regularizers.l1_l2(0.1, l2=0.2)
    h = tf.layers.dense(h, 3, kernel_regularizer=both, activity_regularizer=None, name='c')
    return [h, tf.losses.get_regularization_loss()]
"""),
    ("tables", "", """
    keys = tf.contrib.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2])
    table = tf.lookup.StaticHashTable(keys, -1)
    with tf.control_dependencies([table.initializer]):
        return [table.lookup(tf.constant(['b', 'c', 'a']))]
"""),
    ("networks", """\
import tensorflow.contrib.slim as slim
from tensorflow.contrib.slim.nets import resnet_utils, resnet_v1
from tensorflow.contrib.slim.python.slim.nets.resnet_v2 import resnet_v2, resnet_v2_block
""", """
    x = tf.constant(x4)
    with slim.arg_scope(resnet_v1.resnet_arg_scope(batch_norm_decay=0.9)):
        blocks = [resnet_v1.resnet_v1_block('first', 2, 2, 2),
                  resnet_utils.Block('second', resnet_v1.bottleneck,
                                     [{'depth': 8, 'depth_bottleneck': 2, 'stride': 1}])]
        a, points = resnet_v1.resnet_v1(x, blocks, 3, is_training=False,
                                        include_root_block=False)
        b, _ = resnet_v2(x, [resnet_v2_block('third', 2, 1, 1)], 3, is_training=False)
    c = resnet_utils.conv2d_same(x, 2, 3, 2)
    with slim.arg_scope(slim.nets.vgg.vgg_arg_scope(0.1)):
        d = slim.conv2d(resnet_utils.subsample(x, 2), 2, 3)
    loss = tf.add_n(slim.losses.get_regularization_losses())
    return [a, b, c, d, loss, points['predictions']]
"""),
    ("inception", "import tensorflow.contrib.slim.nets as nets\n" + _SLIM, """
    x = tf.image.resize_bilinear(tf.constant(x4), [40, 40])
    with slim.arg_scope(nets.inception.inception_v3_arg_scope(0.1)):
        a, _ = nets.inception.inception_v3_base(x, 'Conv2d_2b_3x3', 4, 0.1)
    return [a, tf.add_n(slim.losses.get_regularization_losses())]
"""),
    ("group_norm", _SLIM, """
    x = tf.concat([tf.constant(x4), tf.constant(x4) * 2.0 + 1.0], 3)
    return [tf.contrib.layers.group_norm(x, 3), slim.group_norm(x, 2, scale=False, scope='two')]
"""),
    ("files and evaluation", """\
import tensorflow.contrib.slim as slim
from tensorflow.contrib.layers.python.layers import utils
""", """
    import os
    import tempfile
    folder = tempfile.mkdtemp()
    for name in ('b.txt', 'a.txt'):
        open(os.path.join(folder, name), 'w').close()
    files = slim.parallel_reader.get_data_files([os.path.join(folder, '*.txt')])
    kinds = [utils.get_variable_collections({'weights': ['one']}, 'weights'),
             slim.utils.get_variable_collections(['two'], 'weights')]
    graph = tf.Graph()
    with graph.as_default():
        w = tf.get_variable('w', [2], initializer=tf.ones_initializer())
        tf.train.get_or_create_global_step()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, os.path.join(folder, 'model'), global_step=1)
        waited = slim.evaluation.wait_for_new_checkpoint(folder, timeout=1)
        paths = list(slim.evaluation.checkpoints_iterator(folder, timeout=0.1))
        mean, update = tf.metrics.mean(w * 3.0)
        value = slim.evaluation.evaluate_once('', path, os.path.join(folder, 'logs'), num_evals=2,
                                              eval_op=[update], final_op=mean)
        last = slim.evaluation.evaluation_loop(
            '', folder, os.path.join(folder, 'more'), num_evals=1, eval_op=[update],
            final_op=[mean], max_number_of_evaluations=1)
    return [tf.constant([float(len(files)), float(kinds == [['one'], ['two']]), float(value),
                         float(waited == path and paths == [path]), float(last[0])])]
"""),
    ("block cells", "from tensorflow.contrib import rnn\n", """
    x = tf.reshape(tf.constant(x4), [4, 36, 3])[:, :5]
    cell = tf.contrib.rnn.LSTMBlockCell(3, forget_bias=0.5)
    a, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=[5, 2, 3, 1])
    two = tf.nn.rnn_cell.MultiRNNCell([rnn.LSTMBlockCell(2), rnn.LSTMBlockCell(num_units=3)])
    with tf.variable_scope('two', initializer=tf.ones_initializer()):
        b, _ = tf.nn.dynamic_rnn(two, x, dtype=tf.float32)
    return [a, state.c, state.h, b]
"""),
    ("losses of sequences", "from tensorflow.contrib import legacy_seq2seq\n", """
    seq2seq = tf.contrib.seq2seq
    x = tf.reshape(tf.constant(x4), [4, 36, 3])[:, :5]
    w = tf.get_variable('w', [3, 4])
    logits = tf.reshape(tf.matmul(tf.reshape(x, [20, 3]), w), [4, 5, 4])
    targets = tf.constant([[0, 1, 2, 3, 0], [1, 1, 2, 0, 3], [3, 2, 1, 0, 2], [2, 2, 0, 1, 1]])
    weights = tf.constant([[1., 1., .5, 0., 0.], [1., 0., 0., 0., 0.], [2., 1., 1., 1., 1.],
                           [0., 0., 0., 0., 0.]])
    def loss(labels, logits):
        return 2.0 * tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    found = [seq2seq.sequence_loss(logits, targets, weights),
             tf.contrib.seq2seq.sequence_loss(logits, targets, weights, False, False),
             seq2seq.sequence_loss(logits, targets, weights, average_across_timesteps=False),
             seq2seq.sequence_loss(logits, targets, weights, average_across_batch=False),
             seq2seq.sequence_loss(logits, targets, weights, softmax_loss_function=loss),
             seq2seq.sequence_loss(logits, targets, weights * 0.0),
             seq2seq.sequence_loss(logits, targets, weights, False, False, True, False),
             seq2seq.sequence_loss(logits, targets, weights, False, False, False, True),
             seq2seq.sequence_loss(logits, targets, weights, False, False, True, True)]
    steps = [tf.unstack(one, axis=1) for one in (logits, targets, weights)]
    found += [legacy_seq2seq.sequence_loss_by_example(*steps),
              legacy_seq2seq.sequence_loss_by_example(*steps, average_across_timesteps=False),
              tf.contrib.legacy_seq2seq.sequence_loss(*steps, softmax_loss_function=loss),
              legacy_seq2seq.sequence_loss(*steps, average_across_batch=False)]
    return [tf.reduce_sum(one) for one in found] + found[1:4]
"""),
    ("INITIAL a module of initializers",
     "from tensorflow.contrib.layers.python.layers import initializers\n", """
    def draw(scope, given):
        with tf.variable_scope(scope):
            return [tf.get_variable('w%d' % index, [3, 3, 2, 4], initializer=made(seed=5))
                    for index, made in enumerate((given.xavier_initializer,
                                                  given.variance_scaling_initializer,
                                                  given.xavier_initializer_conv2d))]
    found = draw('a', initializers) + draw('b', tf.contrib.slim.initializers)
    found.append(tf.get_variable('c', [4, 4], initializer=initializers.xavier_initializer(seed=2)))
    made = tf.contrib.slim.initializers.xavier_initializer_conv2d(seed=2)
    with tf.variable_scope('d', initializer=made):
        return found + [tf.get_variable('w', [4, 4])]
"""),
    ("an embedding projector", "from tensorflow.contrib.tensorboard.plugins import projector\n", """
    import os
    import tempfile
    folder = tempfile.mkdtemp()
    config = projector.ProjectorConfig()
    config.model_checkpoint_path = 'model'
    embedding = config.embeddings.add()
    embedding.tensor_name, embedding.metadata_path = 'words:0', 'metadata.tsv'
    embedding.sprite.image_path = 'sprite.png'
    embedding.sprite.single_image_dim.extend([28, 28])
    other = tf.contrib.tensorboard.plugins.projector.EmbeddingInfo(tensor_shape=[3, 2])
    config.embeddings.extend([other])
    projector.visualize_embeddings(tf.summary.FileWriter(folder), config)
    with open(os.path.join(folder, 'projector_config.pbtxt')) as written:
        return [tf.constant([float(ord(letter)) for letter in written.read()])]
"""),
    ("random fields", "from tensorflow.contrib import crf\n", """
    x, row = tf.constant(x4[0]), tf.constant(x4[0][:, :1])
    tags = tf.constant((np.arange(36).reshape(6, 6) * 5) % 3, tf.int64)
    lengths = tf.constant([6, 4, 1, 0, 2, 3])
    likelihood, moves = crf.crf_log_likelihood(x, tags, lengths)
    first = tf.cast(tags[:, :1], tf.int32)
    given, _ = tf.contrib.crf.crf_log_likelihood(row, first, lengths, moves)
    best, score = crf.crf_decode(x, moves, lengths)
    one, alone = crf.crf_decode(row, moves, lengths)
    path, highest = crf.viterbi_decode(x4[0][0], x2[:3, :3])
    undefined = tf.placeholder_with_default(x4[0][:, :1], [None, None, 3])
    norm = crf.crf_log_norm(undefined, lengths, moves)
    found = tf.constant([*path, highest], tf.float64)
    return [likelihood, given, best, score, one, alone, found, norm,
            crf.crf_sequence_score(x, tags, lengths, moves), crf.crf_unary_score(tags, lengths, x),
            crf.crf_binary_score(tags, lengths, moves),
            crf.crf_decode(undefined, moves, lengths)[0]]
"""),
    ("percentiles", "", """
    tfd = tf.contrib.distributions
    x = tf.constant(x4)
    undefined = tf.placeholder_with_default(x4, [None, None, None, 3])
    return [tfd.percentile(x, 30.0), tfd.percentile(x, q=30.0, axis=[1, 2]),
            tfd.percentile(x, 71, axis=-1, interpolation='lower', keep_dims=True),
            tfd.percentile(x, 71, [0, -1], 'higher'), tfd.percentile(x, 99., keep_dims=True),
            tfd.percentile(undefined, 20., axis=[0, 3], validate_args=True, name='least'),
            tfd.percentile(undefined, 55., axis=2, keep_dims=True)]
"""),
    ("tensors of other forms", _SLIM + """\
from tensorflow.python.framework import ops
from tensorflow.python.util import deprecation
deprecation._PER_MODULE_WARNING_LIMIT = 0
""", """
    class Twice:
        value = x2
    def convert(held, dtype=None, name=None, as_ref=False):
        return tf.constant(held.value * 2, dtype, name=name)
    ops.register_tensor_conversion_function(Twice, convert)
    sparse = tf.contrib.layers.dense_to_sparse(tf.constant(labels.reshape([2, 3])))
    none = slim.dense_to_sparse(labels.reshape([2, 3]), eos_token=1)
    turned = tf.contrib.rnn.transpose_batch_time(tf.constant(x4))
    return [tf.convert_to_tensor(Twice()), sparse.indices, sparse.values, sparse.dense_shape,
            none.values, none.indices, turned]
"""),
    ("edits of a graph", "from tensorflow.contrib import graph_editor as ge\n", """
    x = tf.placeholder_with_default(x2, [6, 5], name='x')
    other = tf.constant(x2 * 2)
    with tf.name_scope('first'):
        a = tf.tanh(x, name='a')
        b = tf.multiply(a, 3.0, name='b')
    with tf.name_scope('second'):
        c = tf.add(b, a, name='c')
        d = tf.square(c, name='d')
    tf.add_to_collection('kept', c)
    graph = tf.get_default_graph()
    def count(found):
        return tf.constant([float(len(found))] + [float(sum(map(ord, one.name))) for one in sorted(
            found, key=lambda one: one.name)])
    found = [
        count(ge.select_ops('first/.*', graph=graph)),
        count(ge.select_ops('^second/', [a.op], graph=graph, positive_filter=lambda op: op.inputs)),
        count(ge.filter_ts([b.op, c.op], True)), count(ge.filter_ts([b.op], lambda t: t is a)),
        count(ge.filter_ts_from_regex([b.op, c.op], 'first/')),
        count(ge.filter_ops([b.op, c.op], lambda op: op is b.op)),
        count(ge.filter_ops_from_regex(graph, 'second')),
        count(ge.get_forward_walk_ops([a.op])), count(ge.get_forward_walk_ops(a, inclusive=False)),
        count(ge.get_forward_walk_ops(a.op, within_ops=[a.op, b.op])),
        count(ge.get_forward_walk_ops([x.op], stop_at_ts=[b])),
        count(ge.get_backward_walk_ops(d.op, inclusive=True)),
        count(ge.get_backward_walk_ops([d, b], within_ops_fn=lambda op: op is not a.op)),
        count(ge.get_backward_walk_ops([d.op], stop_at_ts=[b], within_ops={b.op, c.op, d.op})),
    ]
    view = ge.sgv([b.op, c.op])
    found += [count(view.inputs), count(view.outputs), count(ge.sgv(a, b.op).inputs)]
    copied, info = ge.copy_with_input_replacements(view, {a: tf.constant(x2 * 0.5)})
    copies = [op for op in info._transformed_ops.values()]
    found += [info.transformed(c), count(copies), count(info.original(copies)),
              count(info.transformed([b.op, d.op], missing_fn=lambda op: op)),
              count(copied.ops), count(copied.outputs), tf.add_n(tf.get_collection('kept'))]
    step = tf.Variable(0.0, trainable=False)
    shown = tf.identity(step)
    ge.add_control_inputs(shown.op, step.assign(4.0).op)
    ge.reroute.add_control_inputs(d.op, [step.assign(7.0).op])
    ge.reroute.remove_control_inputs(d.op, d.op.control_inputs)
    u, v = tf.sin(other), tf.cos(other)
    read_u, read_v = tf.negative(u), tf.negative(v)
    ge.swap_outputs(u.op, v.op)
    w, z = tf.exp(other), tf.exp(x)
    ge.reroute_inputs(w.op, z.op)
    p, q = tf.abs(other), tf.abs(x)
    ge.swap_inputs(p.op, q.op)
    r, s = tf.sin(x), tf.cos(x)
    read_r = tf.negative(r) + tf.sqrt(tf.abs(s))
    ge.reroute_outputs(s.op, ge.sgv(r.op))
    rerouted = ge.reroute_ts([other], [a], can_modify=copies + [b.op])
    kept = ge.reroute_ts(other, a, cannot_modify=[c.op])
    swapped = tf.constant([float(rerouted), float(kept), float(ge.swap_ts(u, v))])
    return found + [b, c, d, shown, read_u, read_v, w, z, p, q, read_r, swapped]
"""),
    ("TRAIN gradients with recomputed layers",
     "import tensorflow.contrib.graph_editor as ge\n", """
    net, ends = tf.constant(x2), []
    for number in range(4):
        net = tf.layers.dense(net, 5, tf.tanh, name='layer%d' % number)
        if number == 1:
            ends.append(net)
    loss = tf.reduce_sum(tf.square(net))
    trained = tf.trainable_variables()
    ahead = ge.get_forward_walk_ops([v.op for v in trained], inclusive=True)
    behind = ge.get_backward_walk_ops([loss.op], inclusive=True)
    kept, = ends
    held = tf.stop_gradient(kept)
    again = [op for op in behind if op in ahead and op not in ge.get_backward_walk_ops(kept.op)
             and not op.type.startswith('Variable')]
    copied, info = ge.copy_with_input_replacements(ge.sgv(again), {})
    made = list(info._transformed_ops.values())
    ge.reroute_ts({kept: held}.values(), {kept: held}.keys(), can_modify=made)
    last = trained[4:]
    copied_loss = info._transformed_ops[loss.op]._outputs[0]
    upper = tf.gradients(copied_loss, [held] + last)
    lower = tf.gradients(kept, trained[:4], grad_ys=upper[0])
    for gradient in lower:
        if gradient.op.type != 'Identity':
            ge.add_control_inputs(gradient.op, [upper[0].op])
    gradients = tf.tuple(lower + upper[1:] + [loss])
    step = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(gradients, trained))
    return [step, gradients[-1]]
"""),
    ("fused networks", "from tensorflow.contrib import rnn\n", """
    x, lengths = tf.constant(x4[0]), tf.constant([6, 4, 1, 0, 2, 3])
    def both(*given, **settings):
        ahead = rnn.LSTMBlockFusedCell(4, *given)
        back = rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(4, *given))
        found = ahead(x, dtype=tf.float32, **settings), back(x, dtype=tf.float32, **settings)
        again, _ = ahead(x, dtype=tf.float32)
        return [again] + [one for outputs, state in found for one in (outputs, state.c, state[1])]
    found = both()
    with tf.variable_scope('lengths'):
        found += both(0.5, 0.3, True, sequence_length=lengths)
    named = rnn.LSTMBlockFusedCell(3, reuse=tf.AUTO_REUSE, name='named')
    found.append(named(x, (found[1][0, :, :3], found[1][1, :, :3]))[0])
    found.append(rnn.LSTMBlockFusedCell(3, reuse=True, name='named')(x, dtype=tf.float32)[1].h)
    class Doubled(rnn.FusedRNNCell):
        def __call__(self, inputs, **settings):
            return inputs * 2, inputs[-1]
    found += [*Doubled()(x), tf.constant(float(isinstance(named, tf.contrib.rnn.FusedRNNCell)))]
    for dynamic in (False, True):
        cell = rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(2), dynamic)
        with tf.variable_scope('cell%d' % dynamic):
            found.append(cell(x, dtype=tf.float32, sequence_length=lengths)[0])
    return found
"""),
    ("a decoder", "from tensorflow.contrib import legacy_seq2seq\n", """
    cell, steps = tf.nn.rnn_cell.GRUCell(5), tf.unstack(tf.constant(x2)[None] * [[[1.]], [[.5]]])
    state = cell.zero_state(6, tf.float32)
    def following(output, step):
        return tf.tanh(output) * step
    plain, last = legacy_seq2seq.rnn_decoder(steps, state, cell)
    looped, _ = tf.contrib.legacy_seq2seq.rnn_decoder(steps, last, cell, following, scope='loop')
    return plain + looped + [last]
"""),
    ("helpers of slim", _SLIM + """\
from tensorflow.contrib.framework.python.ops.variables import add_model_variable
from tensorflow.contrib.layers.python.layers import utils
""", """
    x = tf.constant(x2)
    flag = tf.constant(True)
    chosen = slim.utils.smart_cond(flag, lambda: x + 1.0, lambda: x - 1.0)
    other = utils.smart_cond(tf.reduce_sum(x) > 1e6, lambda: x * 2.0, lambda: x * 3.0)
    third = slim.utils.static_cond(False, lambda: x + 4.0, lambda: x + 5.0)
    known = [slim.utils.constant_value(True), *slim.utils.n_positive_integers(3, 2),
             *slim.utils.two_element_tuple([4, 5]), *utils.n_positive_integers(2, (6, 7))]
    kept = tf.get_variable('kept', [2], initializer=tf.ones_initializer())
    slim.add_model_variable(kept)
    moved = tf.get_variable('moved', [2], trainable=False)
    add_model_variable(moved)
    named = ','.join(v.op.name for v in slim.get_model_variables())
    known += [float(ord(letter)) for letter in named]
    return [chosen, other, third, tf.constant([float(one) for one in known]), kept * moved]
"""),
    ("summaries of slim", _SLIM, """
    x = tf.constant(x4)
    slim.summaries.add_scalar_summary(tf.reduce_max(x), 'most', prefix='losses')
    slim.summaries.add_histogram_summary(x, name='x')
    slim.summaries.add_image_summary(x, 'image', prefix='seen')
    slim.summaries.add_zero_fraction_summary(tf.nn.relu(x), 'zeros')
    tf.contrib.layers.summaries.summarize_activation(tf.identity(x, 'here/x'))
    w = tf.get_variable('w', [3, 2])
    tf.contrib.training.add_gradients_summaries([(tf.ones([3, 2]), w)])
    merged = tf.get_collection(tf.GraphKeys.SUMMARIES)
    return [tf.cast(tf.decode_raw(one, tf.uint8), tf.int32) for one in merged if 'image' not in
            one.name] + [tf.constant([float(ord(letter)) for one in merged for letter in one.name])]
"""),
    ("TRAIN one step at a time", _SLIM, """
    w = tf.get_variable('w', [5, 3])
    loss = tf.losses.mean_squared_error(tf.constant(onehot), tf.matmul(tf.constant(x2), w))
    step = slim.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.3)
    clip = tf.contrib.training.clip_gradient_norms_fn(0.2)
    train = tf.contrib.training.create_train_op(loss, optimizer, step, transform_grads_fn=clip)
    stop = {'should_stop': step >= 2, 'should_log': tf.constant(False)}
    with tf.Session() as sess:
        sess.run([v.initializer for v in tf.global_variables()])
        sess.run(w.assign(x2[:3].T))
        found = [slim.learning.train_step(sess, train, step, stop) for _ in range(2)]
    return [train, tf.constant([float(one) for pair in found for one in pair])]
"""),
    ("more metrics", _SLIM, """
    p, t = tf.constant(labels), tf.constant(labels[::-1].copy())
    f, g = tf.constant(x2[:, 0]), tf.constant(x2[:, 1])
    scores, truth = tf.sigmoid(f), tf.constant(labels > 0)
    updated = [
        tf.contrib.metrics.f1_score(truth, scores), slim.metrics.streaming_auc(scores, truth),
        slim.metrics.streaming_mean_relative_error(f, g, tf.abs(g) + 1.0),
        slim.metrics.streaming_pearson_correlation(f, g),
        slim.metrics.streaming_percentage_less(f, 0.2),
        slim.metrics.streaming_root_mean_squared_error(f, g),
        slim.metrics.streaming_sparse_precision_at_k(tf.constant(x2), tf.cast(t, tf.int64), 2),
        slim.metrics.streaming_sparse_recall_at_k(tf.constant(x2), tf.cast(t, tf.int64), 2),
        slim.metrics.streaming_true_positives(truth, p > 1),
        slim.metrics.streaming_false_positives(truth, p > 1),
        slim.metrics.streaming_true_negatives(truth, p > 1),
        slim.metrics.streaming_false_negatives(truth, p > 1),
    ]
    first = [tf.contrib.metrics.accuracy(p, t),
             slim.metrics.accuracy(p, t, tf.constant(x2[:, 2] ** 2))]
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run([update for _, update in updated])
        values = sess.run(first + [value for value, _ in updated])
    return [tf.constant(value, tf.float32) for value in values]
"""),
    ("losses of embeddings", _SLIM, """
    w = tf.get_variable('w', [5, 4])
    found = tf.matmul(tf.constant(x2), w)
    other = tf.matmul(tf.constant(x2[::-1].copy()), w)
    same = tf.constant(labels)
    sets = [tf.SparseTensor([[0, one]], [1], [1, 3]) for one in labels]
    return [slim.losses.metric_learning.triplet_semihard_loss(same, found),
            slim.losses.metric_learning.npairs_loss(same, found, other),
            slim.losses.metric_learning.npairs_loss_multilabel(sets, found, other),
            slim.losses.metric_learning.lifted_struct_loss(same, found),
            slim.losses.metric_learning.contrastive_loss(tf.constant(labels > 0), found, other)]
"""),
    ("records by hand", """\
from tensorflow.contrib.slim.python.slim.data import data_decoder
import tensorflow.contrib.slim as slim
""", """
    import os
    import tempfile
    path = os.path.join(tempfile.mkdtemp(), 'records')
    with tf.python_io.TFRecordWriter(path) as writer:
        for word in (b'a b', b'c d e', b'a b', b'c d e'):
            writer.write(word)
    class Words(slim.data_decoder.DataDecoder):
        def list_items(self):
            assert isinstance(self, data_decoder.DataDecoder)
            return ['words', 'length']
        def decode(self, data, items):
            words = tf.string_split([data]).values
            found = {'words': words, 'length': tf.size(words)}
            return [found[item] for item in items]
    class Provider(slim.data_provider.DataProvider):
        def __init__(self, data):
            decoder = Words()
            items = decoder.list_items()
            tensors = decoder.decode(data, items)
            super(Provider, self).__init__(dict(zip(items, tensors)), num_samples=4)
    _, data = slim.parallel_reader.parallel_read(
        path, tf.TFRecordReader, num_epochs=2, num_readers=1, shuffle=False, capacity=4,
        min_after_dequeue=1)
    _, once = slim.parallel_reader.single_pass_read(path, tf.TFRecordReader)
    words, length = Provider(data).get(['words', 'length'])
    assert sorted(Provider(once).list_items()) == ['length', 'words']
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with slim.queues.QueueRunners(sess):
            found = [sess.run([words, length, once]) for _ in range(4)]
    texts = b'|'.join(word for row in found for word in [*row[0], row[2]])
    return [tf.constant([row[1] for row in found]), tf.constant(list(texts))]
"""),
    ("buckets of lengths", "", """
    training = tf.contrib.training
    def run(made):
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            found, coordinator = [], tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess, coordinator)
            try:
                while True:
                    found.append([np.asarray(one) for one in sess.run(made)])
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
        runners = len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS))
        tf.get_default_graph().clear_collection(tf.GraphKeys.QUEUE_RUNNERS)
        found.sort(key=lambda row: row[0].ravel().tolist())  # which bucket is first is by chance
        return [tf.constant(value) for row in found for value in row] + [tf.constant(runners)]
    def numbers():
        (index,) = tf.train.slice_input_producer([tf.range(12)], num_epochs=1, shuffle=False)
        return index, index % 5 + 1
    index, length = numbers()
    tensors = {'index': index, 'row': tf.range(length)}
    lengths, batch = training.bucket_by_sequence_length(
        length, tensors, 2, [3, 5], dynamic_pad=True, allow_smaller_final_batch=True, name='made')
    assert [lengths.shape.as_list(), batch['row'].shape.as_list()] == [[None], [None, None]]
    found = run([lengths, batch['index'], batch['row']])
    index, length = numbers()
    _, (single,) = training.bucket_by_sequence_length(length, [index], [3, 1], [4], capacity=40)
    found += run([single])
    index, length = numbers()
    which, two = training.bucket([index, length], index % 2, 3, 2, keep_input=index > 1)
    assert two[0].shape.as_list() == [3] and which.shape.as_list() == []
    return found + run([which, two[0], two[1]])
"""),
    ("projected and embedded cells", "from tensorflow.contrib import rnn\n", """
    x = tf.constant(x4[:, 0])
    made = [rnn.InputProjectionWrapper(rnn.GRUCell(4), 3, activation=tf.nn.relu),
            rnn.OutputProjectionWrapper(rnn.BasicLSTMCell(4), 2),
            rnn.OutputProjectionWrapper(rnn.GRUCell(3), 3, activation=tf.tanh)]
    outputs, state = tf.nn.dynamic_rnn(rnn.MultiRNNCell(made), x, dtype=tf.float32)
    words = [tf.constant(labels), tf.constant(labels[::-1].copy())]
    embedded = rnn.EmbeddingWrapper(rnn.GRUCell(4), 3, 5)
    steps, last = rnn.static_rnn(embedded, words, dtype=tf.float32, scope='words')
    assert embedded.output_size == 4 and made[1].output_size == 2
    return [outputs, state[1][0], *steps, last, embedded.zero_state(3, tf.float32)]
"""),
    ("INITIAL embedded symbols", "", """
    layers = tf.contrib.layers
    tf.set_random_seed(1)
    ids = tf.constant(labels.reshape(2, 3))
    first = tf.random_uniform_initializer(-1.0, 1.0, seed=5)
    a = layers.embed_sequence(ids, 3, 4, initializer=first)
    b = layers.embed_sequence(ids, vocab_size=3, embed_dim=5, unique=True, scope='shared',
                              initializer=first, regularizer=tf.nn.l2_loss)
    c = layers.embed_sequence(ids[:1], 3, 5, scope='shared', reuse=True, trainable=False)
    d = layers.embed_sequence(ids[:1], scope='shared', reuse=True)
    known = [b.shape.as_list(), [len(tf.get_collection(tf.GraphKeys.MODEL_VARIABLES))]]
    return [a, b, c, d, tf.losses.get_regularization_loss(), tf.constant(sum(known, []))]
"""),
    ("dropout for selus", "", """
    tf.set_random_seed(1)
    x = tf.constant(x4)
    drop = tf.contrib.nn.alpha_dropout
    same = drop(x, 0.7, seed=2, noise_shape=[4, 6, 6, 1])
    return [drop(x, 0.6, seed=3), same, drop(x, 1.0), drop(x, tf.constant(0.5), seed=4)]
"""),
    ("rotated images", "from tensorflow.contrib.image import rotate\n", """
    x = tf.constant(x4)
    angles = tf.constant([0.1, -0.5, 1.5, 3.0])
    return [rotate(x, 0.3), rotate(x, angles, interpolation='BILINEAR'),
            tf.contrib.image.rotate(x[0], tf.constant(-0.7), 'bilinear'),
            rotate(x[1, :, :, 0], 2.0)]
"""),
    ("cells of one gate and of cuDNN", "", """
    x = tf.constant(x4[:, :, 0])
    start = tf.constant_initializer(0.1)
    makers = (lambda: tf.contrib.rnn.UGRNNCell(3),
              lambda: tf.contrib.rnn.UGRNNCell(2, start, forget_bias=0.4, activation=tf.sigmoid),
              lambda: tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4))
    found = []
    for number, maker in enumerate(makers):
        with tf.variable_scope('cell%d' % number):
            out, state = tf.nn.dynamic_rnn(maker(), x, tf.constant([2, 6, 4, 1]), dtype=tf.float32)
        found += [out, *(state if isinstance(state, tuple) else [state])]
    return found
"""),
    ("projected images", "from tensorflow.python.ops import variable_scope\n", """
    x = tf.constant(x4)
    project = tf.contrib.image.transform
    shift = [1.0, 0.0, 1.5, 0.0, 1.0, -0.5, 0.0, 0.0]
    slant = tf.constant([[0.9, 0.2, -0.3, -0.1, 1.1, 0.4, 0.01 * i, -0.02] for i in range(4)])
    v = variable_scope.variable(tf.ones([2]), trainable=False, name='v')
    return [project(x, shift), project(x, slant, 'BILINEAR'), v + 1,
            project(x[0], tf.constant(shift), interpolation='bilinear', output_shape=[4, 7]),
            project(x[1, :, :, 0], shift)]
"""),
    ("last activations", "from tensorflow.contrib.learn.python.learn.estimators import rnn_common\n"
     "from tensorflow.python.keras.utils import to_categorical\n", """
    x = tf.constant(x4[0])
    last = rnn_common.select_last_activations
    return [last(x, tf.constant([1, 6, 3, 2, 5, 4])), last(x, None),
            tf.constant(to_categorical(labels, 3))]
"""),
    ("summaries at the end", "import tempfile\n", """
    found = []
    for given in (None, 'loss'):
        folder = tempfile.mkdtemp()
        with tf.Graph().as_default():
            step = tf.train.get_or_create_global_step()
            tf.summary.scalar('loss', tf.reduce_sum(tf.constant(x2)) + tf.to_float(step))
            other = tf.summary.scalar('other', tf.constant(2.0), collections=[])
            hook = tf.contrib.training.SummaryAtEndHook(
                folder, summary_op=other if given else None)
            count = tf.assign_add(step, 1)
            with tf.train.MonitoredSession(hooks=[hook]) as sess:
                for _ in range(3):
                    sess.run(count)
        (name,) = tf.gfile.ListDirectory(folder)
        for event in tf.train.summary_iterator(folder + '/' + name):
            for value in event.summary.value:
                found += [float(event.step), value.simple_value, float(len(value.tag))]
    return [tf.constant(found)]
"""),
    ("an Experiment", "import tempfile\nfrom tensorflow.contrib.learn.python.learn import "
     "learn_runner\n", """
    def input_fn():
        return tf.data.Dataset.from_tensors(({'x': x2}, labels[:, None])).repeat()

    def model_fn(features, labels, mode, params):
        weights = tf.get_variable('weights', [5, 3], initializer=tf.ones_initializer())
        logits = tf.matmul(features['x'], weights)
        loss = tf.losses.sparse_softmax_cross_entropy(labels[:, 0], logits)
        train = tf.train.AdamOptimizer(0.5).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train, eval_metric_ops={'mean': tf.metrics.mean(logits)})

    made = []
    def experiment_fn(config, settings):
        estimator = tf.estimator.Estimator(model_fn, config=config, params=settings)
        made.append(estimator)
        return tf.contrib.learn.Experiment(
            estimator, input_fn, eval_input_fn=input_fn, train_steps=7, eval_steps=2,
            min_eval_frequency=2, local_eval_frequency=0, eval_delay_secs=0, train_monitors=[],
            continuous_eval_throttle_secs=0, check_interval_secs=None)

    found = []
    for schedule in ('train_and_evaluate', 'train', 'evaluate', 'test', None, 'local_run',
                     'continuous_eval'):
        folder = made[0].model_dir if schedule == 'continuous_eval' else tempfile.mkdtemp()
        config = tf.contrib.learn.RunConfig(
            model_dir=folder, save_checkpoints_steps=2, keep_checkpoint_max=3, tf_random_seed=7)
        if schedule == 'evaluate':
            tf.estimator.Estimator(model_fn, config=config, params=None).train(input_fn, steps=3)
        result = learn_runner.run(
            experiment_fn, run_config=config, schedule=schedule,
            hparams=tf.contrib.training.HParams(a=1))
        if isinstance(result, tuple):
            result, exports = result
            assert not exports
        if isinstance(result, dict):
            found += [float(result[key]) for key in sorted(result)]
        found.append(float(made[-1].get_variable_value('global_step')))
        found += made[-1].get_variable_value('weights').ravel().tolist()
        for where in ('eval', 'eval_one_pass', 'eval_continuous'):
            if tf.gfile.Exists(folder + '/' + where):
                for name in tf.gfile.ListDirectory(folder + '/' + where):
                    for event in tf.train.summary_iterator(folder + '/' + where + '/' + name):
                        for value in event.summary.value:
                            found += [float(event.step), value.simple_value]
    config = tf.contrib.learn.RunConfig(save_checkpoints_secs=60, num_cores=2)
    found += [float(config.save_checkpoints_secs), float(config.save_summary_steps),
              float(config.tf_config.intra_op_parallelism_threads), float(config.task_id),
              float(config.is_chief), float(config.num_worker_replicas),
              float(config.num_ps_replicas), float(config.keep_checkpoint_every_n_hours)]
    assert config.save_checkpoints_steps is None and config.model_dir is None
    assert config.task_type is None and config.environment == 'local' and not config.cluster_spec
    assert config.uid() == tf.contrib.learn.RunConfig(tf_random_seed=3, num_cores=2).uid()
    assert config.uid() != tf.contrib.learn.RunConfig(model_dir='m', num_cores=2).uid()
    def refused(make):
        try:
            make()
        except (ValueError, TypeError, RuntimeError) as error:
            return type(error).__name__
    wrong = [
        refused(lambda: learn_runner.run(experiment_fn)),
        refused(lambda: learn_runner.run(experiment_fn, run_config=config)),
        refused(lambda: learn_runner.run(experiment_fn, 'there', run_config=config)),
        refused(lambda: learn_runner.run(lambda run_config, hparams: 1,
                                         run_config=config.replace(model_dir='m'))),
        refused(lambda: learn_runner.run(
            lambda run_config, hparams: experiment_fn(None, None),
            run_config=tf.contrib.learn.RunConfig(model_dir=tempfile.mkdtemp()))),
        refused(lambda: tf.contrib.learn.Experiment(1, input_fn, input_fn)),
        refused(lambda: learn_runner.run(
            experiment_fn, run_config=tf.contrib.learn.RunConfig(model_dir=tempfile.mkdtemp()),
            schedule='fly'))]
    assert wrong == ['ValueError', 'ValueError', 'ValueError', 'TypeError', 'RuntimeError',
                     'ValueError', 'ValueError'], wrong
    return [tf.constant(found)]
"""),
    ("TRAIN averaged weights", "", """
    import os
    import tempfile
    a = tf.get_variable('a', initializer=tf.constant(x2[:3].T))
    loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x2), a) - tf.constant(onehot)))
    step = tf.train.get_or_create_global_step()
    made = tf.contrib.opt.MovingAverageOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), average_decay=0.7, num_updates=step)
    train = made.minimize(loss, global_step=step)
    saver = made.swapping_saver()
    again = tf.contrib.opt.MovingAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), sequential_update=False)
    path = os.path.join(tempfile.mkdtemp(), 'model')
    with tf.Session() as sess:
        sess.run([v.initializer for v in tf.global_variables()])
        sess.run(train)
        reader = tf.train.load_checkpoint(saver.save(sess, path))
    names = sorted(name for name in reader.get_variable_to_shape_map())
    saved = [tf.constant(np.asarray(reader.get_tensor(name), np.float32)) for name in names]
    assert callable(again.swapping_saver)
    return [train, tf.constant([float(ord(letter)) for letter in ','.join(names)]), *saved]
"""),
    ("heads of Estimators", "", """
    makers = tf.contrib.estimator
    x = tf.constant(x2)
    weights = {'w': tf.constant(np.abs(x2[:, :1]) + 1.0)}
    def losses(head, logits, labels):
        spec = head.create_estimator_spec(
            weights, tf.estimator.ModeKeys.EVAL, logits, labels=labels)
        return [spec.loss, *[spec.predictions[key] for key in sorted(spec.predictions)
                             if spec.predictions[key].dtype == tf.float32]]
    w = tf.get_variable('w', [5, 3])
    logits = tf.matmul(x, w)
    two = tf.constant((labels > 0).astype(np.int64)[:, None])
    found = losses(makers.multi_class_head(3, weight_column='w'), logits,
                   tf.constant(labels[:, None].astype(np.int64)))
    found += losses(makers.binary_classification_head(thresholds=[0.4]), logits[:, :1], two)
    head = makers.regression_head(label_dimension=2, loss_reduction=tf.losses.Reduction.SUM)
    assert tf.estimator.ModeKeys.EVAL and head.logits_dimension == 2
    return found + losses(head, logits[:, :2], x[:, :2])
"""),
    ("losses in the old order", "", _FLIPPED),
    ("nest of a part", "nest = tf.contrib.framework.nest\n", """
    area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[6, 5]])
    put, got = area.put([tf.constant(x2)]), area.get()
    nest.assert_shallow_structure([0, 0], [1, [2]])
    flat = nest.flatten_up_to([0, [0]], [x2, [(x4, 1)]])
    made = nest.map_structure_up_to([0, 0], lambda a, b: a + b[0], [1.0, 2.0], [[3.0], [4.0]])
    found = nest.flatten_dict_items({('a', 'b'): (1, 2)})
    paths = nest.map_structure_with_paths(lambda path, a: (path, a), {'u': [1.0], 'v': 2.0})
    assert paths == {'u': [('u/0', 1.0)], 'v': ('v', 2.0)}
    kind = tf.layers.Layer if tf.contrib.distribute.has_distribution_strategy() else tf.Tensor
    with tf.Session() as sess:
        sess.run(put)
        value = sess.run(got)
    return [tf.constant(np.asarray(value)), tf.constant(flat[0]), tf.constant(made),
            tf.constant([found['a'], found['b'], len(flat[1]), kind is tf.Tensor], tf.float32)]
"""),
    ("a function with a condition", "from tensorflow.contrib import autograph\n", """
    def halved(x, steps):
        i = 0
        while i < steps:
            if tf.reduce_sum(x) > 1.0:
                x = x / 2.0
            i += 1
        return x
    made = autograph.to_graph(halved)
    steps = tf.placeholder_with_default(3, [])
    alone = autograph.to_graph(halved, recursive=False)
    return [made(tf.constant(x2), steps), alone(x2 * 2.0, steps)]
"""),
    ("sounds",
     "from tensorflow.contrib.framework.python.ops import audio_ops as contrib_audio\n", """
    sound = tf.constant(np.sin(np.arange(64.0) * 0.7).reshape([64, 1]).astype("float32"))
    file = contrib_audio.encode_wav(sound, 16000)
    heard = contrib_audio.decode_wav(file, desired_channels=1, desired_samples=60)
    seen = contrib_audio.audio_spectrogram(
        heard.audio, window_size=16, stride=8, magnitude_squared=True)
    parts = contrib_audio.mfcc(
        seen, heard.sample_rate, upper_frequency_limit=7000, filterbank_channel_count=6,
        dct_coefficient_count=4)
    return [heard.audio, seen, parts, tf.cast(heard.sample_rate, tf.float32)]
"""),
    ("words as numbers", """\
from tensorflow.python.keras.preprocessing.sequence import pad_sequences
from tensorflow.python.keras.preprocessing.text import Tokenizer
""", """
    made = Tokenizer(num_words=5, lower=True)
    texts = ['A dog, a cat', 'the dog ran', 'a a the bird']
    made.fit_on_texts(texts)
    rows = made.texts_to_sequences(texts)
    return [tf.constant(pad_sequences(rows)), tf.constant(pad_sequences(rows, 2, padding='post')),
            tf.constant(made.texts_to_matrix(texts, 'count'))]
"""),
    ("vocabulary", "from tensorflow.contrib import learn\n", """
    import os
    import tempfile
    texts = ["It's a HTTPServer of ours, don't YOU see", 'a of a of see see see x-y_z 12', '']
    found = []
    for least in (0, 1):
        made = learn.preprocessing.VocabularyProcessor(6, min_frequency=least)
        rows = list(made.fit_transform(texts))
        path = os.path.join(tempfile.mkdtemp(), 'vocabulary')
        made.save(path)
        again = learn.preprocessing.VocabularyProcessor.restore(path)
        rows += list(again.transform(['see new words of YOU']))
        words = '|'.join(again.reverse(rows))
        found += [np.array(rows), np.array([len(again.vocabulary_), made.max_document_length]),
                  np.array([float(ord(letter)) for letter in words])]
    vocabulary = learn.preprocessing.CategoricalVocabulary(support_reverse=False)
    for word in ('b', 'a', 'b', 'c', 'c', 'a', 'b'):
        vocabulary.add(word)
    vocabulary.trim(1, 3)
    split = tf.contrib.learn.preprocessing.VocabularyProcessor(
        3, tokenizer_fn=lambda texts: [text.split(',') for text in texts])
    found += [np.array([vocabulary.get(word) for word in 'abcd']),
              np.array(list(split.fit_transform(['p,q', 'q,r,s,t'])))]
    return [tf.constant(np.asarray(one, np.float32)) for one in found]
"""),
    ("events", """\
from tensorflow.python import pywrap_tensorflow
from tensorflow.python.util import compat
""", """
    import os
    import tempfile
    folder = tempfile.mkdtemp()
    writer = pywrap_tensorflow.EventsWriter(compat.as_bytes(os.path.join(folder, 'events')))
    for step in range(3):
        value = tf.Summary.Value(tag='loss', simple_value=step * 0.5)
        writer.WriteEvent(tf.Event(wall_time=7.0 + step, step=step,
                                   summary=tf.Summary(value=[value])))
        writer.Flush()
    before = len(list(tf.train.summary_iterator(compat.as_str(writer.FileName()))))
    writer.Close()
    (name,) = os.listdir(folder)
    first, *events = tf.train.summary_iterator(os.path.join(folder, name))
    numbers = [[e.wall_time, e.step, e.summary.value[0].simple_value] for e in events]
    return [tf.constant(numbers), tf.constant(float(before)),
            tf.constant([float(first.file_version == 'brain.Event:2'),
                         float(name.startswith('events.out.tfevents.')), float(len(name))])]
"""),
    ("private modules", """\
from tensorflow.python import pywrap_tensorflow
from tensorflow.python.framework import graph_util, ops
from tensorflow.python.layers import normalization
from tensorflow.python.ops import array_ops, control_flow_ops, random_ops, variables
from tensorflow.python.training import checkpoint_management
from tensorflow.python.util import nest
from tensorflow.python.ops.control_flow_ops import case as chosen
""", """
    import tempfile
    folder = tempfile.mkdtemp()
    x = tf.constant(x2)
    w = tf.get_variable('w', [5, 3])
    first, second = array_ops.unstack(array_ops.stack([x, x * 2.0]), num=2)
    yes = tf.reduce_sum(x) > -1e9
    a = control_flow_ops.cond(yes, lambda: first + second, lambda: first)
    b = chosen([(yes, lambda: x)], default=lambda: x * 3.0)
    _, c = control_flow_ops.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 0.5), (0, a))
    with tf.control_dependencies([control_flow_ops.Assert(yes, [x])]):
        d = tf.matmul(c, w)
    kinds = [isinstance(x, ops.Tensor), isinstance(x, ops.IndexedSlices), nest.is_sequence([x]),
             nest.is_sequence(x)]
    e = normalization.batch_normalization(d, training=True)
    f = normalization.BatchNormalization(scale=False)(d, training=False)
    g = random_ops.random_crop(x, [6, 5])
    with tf.Session() as sess:
        sess.run(w.assign(tf.ones([5, 3])))
        ready = sess.run(variables.is_variable_initialized(w))
        path = tf.train.Saver([w]).save(sess, folder + '/model')
        frozen = graph_util.convert_variables_to_constants(
            sess, tf.get_default_graph().as_graph_def(), [d.op.name])
    latest = checkpoint_management.latest_checkpoint(folder)
    state = checkpoint_management.get_checkpoint_state(folder)
    same = latest == state.model_checkpoint_path == path
    shape = pywrap_tensorflow.NewCheckpointReader(path).get_variable_to_shape_map()['w']
    constants = sum(node.op == 'Const' for node in frozen.node)
    return [a, b, c, d, e, f, g, tf.constant([float(k) for k in (*kinds, ready, same, *shape)]),
            tf.constant(float(constants > 5))]
"""),
    ("sets", "", """
    a, b = tf.constant([[1, 2], [3, 4]]), tf.constant([[2, 3], [4, 3]])
    return [tf.contrib.metrics.set_intersection(a, b).values,
            tf.contrib.metrics.set_size(tf.contrib.metrics.set_union(a, b))]
"""),
    ("predictions of a saved model", "import os, tempfile\n"
     "from tensorflow.contrib import predictor\n", """
    path = os.path.join(tempfile.mkdtemp(), 'model')
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.placeholder(tf.float32, [None, 5]), tf.placeholder_with_default(2.0, [])
        w = tf.get_variable('w', initializer=np.full([5, 2], 0.3, np.float32))
        sess.run(tf.global_variables_initializer())
        outputs = {'scaled': tf.matmul(x, w) * y, 'sum': tf.reduce_sum(x, 1)}
        tf.saved_model.simple_save(sess, path, {'x': x, 'y': y}, outputs)
    predict = predictor.from_saved_model(path)
    other = tf.contrib.predictor.from_saved_model(
        export_dir=path, signature_def_key='serving_default', graph=tf.Graph())
    by_name = predictor.from_saved_model(
        path, input_names={'in': x.name}, output_names={'out': outputs['sum'].name}, tags='serve')
    found, doubled = predict({'x': x2}), other({'x': x2, 'y': 4.0})
    try:
        predict({'z': x2})
    except ValueError:
        refused = 1.0
    return [tf.constant(found['scaled']), tf.constant(found['sum']), tf.constant(refused),
            tf.constant(doubled['scaled']), tf.constant(by_name({'in': x2})['out']),
            tf.constant(len(predict.feed_tensors)), tf.constant(len(predict.fetch_tensors))]
"""),
    ("tables of words", "import os, tempfile\n"
     "from tensorflow.contrib import lookup\n"
     "from tensorflow.contrib.lookup import index_table_from_tensor\n", """
    path = os.path.join(tempfile.mkdtemp(), 'words')
    with open(path, 'w') as file:
        file.write('one\\ntwo\\nthree\\n')
    words = ['b', 'a', 'd']
    asked = tf.constant([['a', 'b'], ['x', 'yy'], ['two', 'three']])
    whole = tf.constant([7, 9, 4], tf.int64)
    tables = [
        index_table_from_tensor(words), index_table_from_tensor(words, 3, default_value=7),
        index_table_from_tensor(mapping=tf.constant(words), default_value=5, name='table'),
        lookup.index_table_from_file(path, num_oov_buckets=2),
        lookup.index_table_from_file(vocabulary_file=path, vocab_size=2, default_value=9),
        lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(words, [1.5, 2.5, 3.5]), -1.0),
        lookup.HashTable(lookup.TextFileInitializer(
            path, tf.string, 0, tf.int64, -1, delimiter=' '), default_value=-4)]
    found = [table.lookup(asked) for table in tables]
    numbers = [index_table_from_tensor([9, 7], 2, dtype=tf.int64).lookup(whole),
               index_table_from_tensor(tf.constant([9, 7], tf.int64), dtype=tf.int64).lookup(whole)]
    by_place = tf.constant([2, 0, 8], tf.int64)
    texts = [lookup.index_to_string_table_from_tensor(tf.constant(words)).lookup(by_place),
             lookup.index_to_string_table_from_tensor(words, default_value='-').lookup(by_place),
             lookup.index_to_string_table_from_file(path, default_value='?').lookup(by_place),
             lookup.index_to_string_table_from_file(path, vocab_size=2).lookup(by_place)]
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        sess.run([tables[0].initializer, tables[1].initializer, tables[5].init])
        found, numbers, texts = sess.run([found, numbers, texts])
    read = [np.frombuffer(b'|'.join(text), np.uint8).astype(np.int32) for text in texts]
    return [tf.constant(one) for one in (*found, *numbers, *read)]
"""),
    ("TRAIN LazyAdamOptimizer", "from tensorflow.contrib import opt\n", """
    losses = []
    for name, resource in (('ref', False), ('resource', True)):
        with tf.variable_scope(name, use_resource=resource):
            rows = tf.get_variable('rows', [7, 3], initializer=tf.ones_initializer())
            dense = tf.get_variable('dense', [3], initializer=tf.ones_initializer())
        step = tf.Variable(0.0, trainable=False, name=name + '_step')
        asked = tf.mod(tf.constant([0, 2, 2, 5]) + tf.cast(step, tf.int32), 7)
        found = tf.nn.embedding_lookup(rows, asked)
        losses.append((tf.reduce_sum(tf.square(found * dense - x2[:4, :3])), step))
    optimizers = [opt.LazyAdamOptimizer(0.1, epsilon=1e-3),
                  tf.contrib.opt.LazyAdamOptimizer(learning_rate=0.05, beta1=0.8, use_locking=True)]
    steps = [optimizer.minimize(loss, step) for optimizer, (loss, step) in zip(optimizers, losses)]
    with tf.control_dependencies(steps):
        done = tf.identity(0.0)
    return [done, losses[0][0], losses[1][0]]
"""),
    ("TRAIN decoupled weight decay", "from tensorflow.contrib.opt import AdamWOptimizer\n", """
    # Weights decay before the step, but not behind the gradients: these do not depend on them.
    def loss_of(name, resource):
        with tf.variable_scope(name, use_resource=resource):
            rows = tf.get_variable('rows', [7, 3], initializer=tf.ones_initializer())
            dense = tf.get_variable('dense', [3], initializer=tf.ones_initializer())
        found = tf.nn.embedding_lookup(rows, [0, 2, 2, 5])
        return tf.reduce_sum(found * x2[:4, :3]) + tf.reduce_sum(dense * x2[:3, 0]), [rows, dense]

    made = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer)
    optimizers = [
        lambda: AdamWOptimizer(0.1, 0.05), lambda: AdamWOptimizer(weight_decay=0.2, epsilon=1e-3),
        lambda: tf.contrib.opt.MomentumWOptimizer(0.05, 0.01, 0.9, use_nesterov=True),
        lambda: made(weight_decay=0.03, learning_rate=0.01)]
    steps, variables = [], []
    for index, optimizer in enumerate(optimizers):
        for kind, resource in (('ref', False), ('resource', True)):
            loss, own = loss_of('%s_%d' % (kind, index), resource)
            if index % 2:
                pairs = optimizer().compute_gradients(loss, own)
                steps.append(optimizer().apply_gradients(pairs, decay_var_list=own[1:]))
            else:
                steps.append(optimizer().minimize(loss, var_list=own, decay_var_list=own[:1]))
            variables += own
    with tf.control_dependencies(steps):
        return [tf.identity(0.0)] + [one + 0.0 for one in variables]
"""),
    ("TRAIN scaled losses", "from tensorflow.contrib import mixed_precision\n", """
    step = tf.Variable(0.0, trainable=False, name='step_of_losses')
    overflow = tf.where(tf.equal(step, 1.0), float('inf'), 1.0)
    grow = mixed_precision.ExponentialUpdateLossScaleManager
    scaled = [
        (mixed_precision.FixedLossScaleManager(128), 1.0), (grow(64.0, 1, 2), 1.0),
        (grow(40.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=1, incr_ratio=3, decr_ratio=0.1),
         overflow),
        (grow(3e38, 1), 1e-30), (grow(8.0, 3, 3), overflow), (grow(8.0, 2, 2), overflow)]
    steps, variables = [], []
    for index, (manager, part) in enumerate(scaled):
        w = tf.get_variable('w%d' % index, [5], initializer=tf.ones_initializer())
        inner = tf.train.AdamOptimizer(0.1) if index % 2 else tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(inner, manager)
        loss = tf.reduce_sum(tf.square(x2 * w - 1.0)) * part
        if index % 2:
            steps.append(optimizer.minimize(loss, var_list=[w]))
        else:
            steps.append(optimizer.apply_gradients(optimizer.compute_gradients(loss, [w])))
        variables += [w, manager.get_loss_scale()]
    with tf.control_dependencies(steps):
        with tf.control_dependencies([tf.assign_add(step, 1.0)]):
            return [tf.identity(0.0)] + [one + 0.0 for one in variables]
"""),
    ("greedy matches", "from tensorflow.contrib.image.python.ops import image_ops\n", """
    far = tf.constant(x4[0, :, :, 0])
    alike = tf.round(2 * far)
    many = tf.reshape(tf.cast(tf.mod(tf.range(2000) * 7919 % 103, 5), tf.float32), [40, 50])
    found = [*image_ops.bipartite_match(far, -1), *image_ops.bipartite_match(alike, 4.0, top_k=3),
             *tf.contrib.image.bipartite_match(alike, [-1.0]),
             *tf.contrib.image.bipartite_match(many, num_valid_rows=30, name='many'),
             *image_ops.bipartite_match(tf.zeros([1, 3]), 1), *image_ops.bipartite_match(far, 0)]
    whole = image_ops.bipartite_match(distance_mat=-far, num_valid_rows=tf.constant(5.0), top_k=0)
    return [*found, whole.col_to_row_match_indices, whole.row_to_col_match_indices]
"""),
    ("summaries in a graph", """import glob, os, tempfile
from tensorflow.contrib import summary
""", """
    folder = tempfile.mkdtemp()
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.create_global_step()
        writer = tf.contrib.summary.create_file_writer(folder, flush_millis=10, name='writer')
        with writer.as_default():
            with summary.always_record_summaries():
                tf.contrib.summary.scalar('loss', tf.reduce_sum(x2), step=step)
                tf.contrib.summary.scalar('more', 2.0, family='kin', step=7)
                tf.contrib.summary.histogram('seen', x2, step=step)
                tf.contrib.summary.image('shown', x4, max_images=2, step=step)
                always = tf.cast(tf.contrib.summary.should_record_summaries(), tf.int32)
            with summary.record_summaries_every_n_global_steps(2, step):
                tf.contrib.summary.scalar('rare', step * 3, step=step)
            with tf.contrib.summary.never_record_summaries():
                tf.contrib.summary.scalar('never', 1.0, step=step)
            made = tf.contrib.summary.all_summary_ops()
            sess.run(tf.global_variables_initializer())
            sess.run(tf.contrib.summary.summary_writer_initializer_op())
            recorded = sess.run(always)
            for _ in range(3):
                sess.run(made)
                sess.run(tf.assign_add(step, 1))
            sess.run(writer.close())
    found = []
    for path in sorted(glob.glob(os.path.join(folder, '*'))):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                size = len(value.image.encoded_image_string) > 0
                found.append((event.step, len(value.tag), sum(value.tag.encode()),
                              value.simple_value, value.histo.sum, value.histo.num, size))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable('v', [], initializer=tf.ones_initializer())
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, os.path.join(folder, 'model'))
    seen = list(tf.contrib.training.checkpoints_iterator(folder, timeout=0))
    return [tf.constant(sorted(found), tf.float32), tf.constant(recorded), tf.constant(len(seen))]
"""),
    ("batches of one size", "from tensorflow.contrib.data.python.ops import batching\n", """
    data = tf.data.Dataset.range(11)
    whole = data.apply(batching.batch_and_drop_remainder(4))
    rows = data.map(lambda n: tf.fill([tf.mod(n, 3) + 1], n))
    rows = rows.apply(batching.padded_batch_and_drop_remainder(
        tf.constant(5, tf.int64), [None], tf.constant(-1, tf.int64)))
    found = []
    for dataset in (whole, rows):
        sizes = tf.constant(dataset.output_shapes.as_list()[0] or -1)
        one = dataset.make_one_shot_iterator().get_next()
        found += [sizes, tf.reduce_sum(one), tf.shape(one)]
    total = whole.reduce(tf.constant(0, tf.int64), lambda n, batch: n + tf.reduce_sum(batch))
    return [*found, total]
"""),
    ("added metrics of an Estimator", "", """
    with_mean = tf.contrib.estimator.add_metrics(
        tf.estimator.LinearClassifier([tf.feature_column.numeric_column('x', [5])], n_classes=3),
        lambda predictions: {'mean': tf.metrics.mean(predictions['probabilities'][:, 1])})

    def given():
        return tf.data.Dataset.from_tensors(({'x': x2}, labels[:, None])).repeat()

    with_mean.train(given, steps=3)
    found = with_mean.evaluate(given, steps=1)
    return [tf.constant(found['mean']), tf.constant(found['average_loss'])]
"""),
    ("a whole network", "from tensorflow.contrib.slim.nets import inception\n" + _SLIM, """
    x = tf.image.resize_bilinear(tf.constant(x4[:1]), [139, 139])
    with slim.arg_scope(inception.inception_v3_arg_scope()):
        a, points = inception.inception_v3(x, 3, False, 1.0, 1, depth_multiplier=0.01)
    return [a, points['AuxLogits'], points['Predictions']]
"""),
    ("linear maps", "from tensorflow.contrib.rnn.python.ops import core_rnn_cell\n", """
    x, y = tf.constant(x2), tf.constant(x2[:, :2])
    with tf.variable_scope('one', reuse=tf.AUTO_REUSE):
        a = core_rnn_cell._linear([x, y], 4, True)
        a = a + core_rnn_cell._linear([x, y], 4, True)
    with tf.variable_scope('two', partitioner=tf.fixed_size_partitioner(2)):
        b = core_rnn_cell._linear(x, 3, bias=True)
    start = tf.constant_initializer(0.3)
    with tf.variable_scope('three'):
        made = core_rnn_cell._Linear([x, y], 4, True, bias_initializer=start)
    alone = core_rnn_cell._Linear(x, 2, False)
    return [a, b, made([x, y]), made([x * 2, y]), alone(x)]
"""),
    ("INITIAL bias", "from tensorflow.contrib.rnn.python.ops import core_rnn_cell\n", """
    x, zeros = tf.constant(x2), tf.zeros_initializer()
    start = tf.constant_initializer(0.3)
    with tf.variable_scope('one'):
        a = core_rnn_cell._linear([x], 2, True, bias_initializer=start, kernel_initializer=zeros)
    return [a, core_rnn_cell._Linear([x], 2, True, kernel_initializer=zeros)([x])]
"""),
    ("normal vectors", "", """
    x = tf.constant(x2)
    loc, scale = tf.get_variable('loc', [5]), tf.abs(tf.get_variable('scale', [6, 5])) + 0.5
    vectors = tf.contrib.distributions.MultivariateNormalDiag(loc, scale_diag=scale)
    turned = tf.contrib.distributions.MultivariateNormalDiag(loc=x, scale_diag=-scale[0])
    return [vectors.prob(x), vectors.log_prob(x), vectors.mean(), vectors.stddev(),
            vectors.variance(), vectors.entropy(), vectors.loc, turned.log_prob(x[:1]),
            turned.stddev(), turned.entropy()]
"""),
    ("masks of attention", """\
from functools import partial
from tensorflow.contrib.seq2seq.python.ops import attention_wrapper
""", """
    memory, lengths = tf.constant(x4[:, :, :, 0]), tf.constant([3, 6, 2, 1])
    masked = partial(
        attention_wrapper._maybe_mask_score, memory_sequence_length=lengths, score_mask_value=-2.0)
    return [attention_wrapper._prepare_memory(memory, lengths),
            attention_wrapper._prepare_memory(memory, check_inner_dims_defined=False),
            masked(memory[:, :, 0])]
"""),
    ("Estimators on several devices", "", """
    def input_fn():
        return tf.data.Dataset.from_tensors(({'x': x2}, labels[:, None])).repeat()

    def model_fn(features, labels, mode):
        weights = tf.get_variable('weights', [5, 3], initializer=tf.ones_initializer())
        logits = tf.matmul(features['x'], weights)
        loss = tf.losses.sparse_softmax_cross_entropy(labels[:, 0], logits)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    found = []
    packed = tf.contrib.distribute.AllReduceCrossDeviceOps('hierarchical_copy', num_packs=2)
    for strategy in (tf.contrib.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']),
                     tf.contrib.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'],
                                                            cross_tower_ops=packed),
                     tf.contrib.distribute.MirroredStrategy(num_gpus=0),
                     tf.contrib.distribute.OneDeviceStrategy('/cpu:0')):
        config = tf.estimator.RunConfig(
            train_distribute=strategy, session_config=tf.ConfigProto(device_count={'CPU': 2}))
        estimator = tf.estimator.Estimator(model_fn, config=config)
        estimator.train(input_fn, steps=3)
        found += [tf.constant(estimator.get_variable_value('weights')),
                  tf.constant(estimator.get_variable_value('global_step')),
                  tf.constant(strategy.num_replicas_in_sync)]
    return found
"""),
)  # fmt: skip

# Of an early TensorFlow: TF 1.15 runs them with its own names.
_EARLIER = (
    ("arithmetic before 1.0", "", """
    x, y = tf.constant(x2), tf.constant(x2 * 0.3 + 2)
    a = tf.constant(x4)
    return [tf.mul(x, y), tf.sub(x, y=y), tf.neg(x), tf.inv(y), tf.pack([x, y], axis=1),
            tf.unpack(x, axis=1)[2], tf.complex_abs(tf.complex(x, y)), tf.select(x > 0, x, y),
            tf.select(x > 0, e=x, t=y), tf.batch_matmul(a, a, adj_y=True),
            tf.batch_matmul(a, a, True, name='product'), tf.listdiff([1, 2, 3], [2])[0],
            tf.list_diff([1, 2, 3], y=[2], out_idx=tf.int64)[1], tf.foldl(tf.mul, x)]
"""),
    ("orders before 1.0", "", """
    x, y = tf.constant(x2), tf.constant(x2 * 0.3 + 2)
    left, right = tf.split(0, 2, x)
    columns = tf.split(split_dim=1, num_split=5, value=y)
    axis, parts = 1, [x, y]
    whole = tf.constant(onehot)
    return [tf.concat(1, [x, y]), tf.concat(concat_dim=0, values=columns[:2]), left, right,
            tf.concat(axis, parts), tf.concat_v2([x, y], 0), tf.split(axis, 5, x)[1],
            tf.nn.softmax_cross_entropy_with_logits(x[:, :3], whole),
            tf.nn.softmax_cross_entropy_with_logits(labels=whole, logits=x[:, :3]),
            tf.nn.sparse_softmax_cross_entropy_with_logits(y, labels),
            tf.nn.sigmoid_cross_entropy_with_logits(x[:, :3], targets=whole)]
"""),
    ("losses in the order before 1.0", "", _FLIPPED),
    ("Datasets before 1.4", "", """
    data = tf.contrib.data.Dataset.from_tensor_slices(x2).map(lambda row: row * 2).batch(3)
    kinds = [tf.contrib.data.TextLineDataset, tf.contrib.data.TFRecordDataset,
             tf.contrib.data.FixedLengthRecordDataset]
    same = [float(issubclass(kind, tf.contrib.data.Dataset)) for kind in kinds]
    same.append(float(hasattr(tf.contrib.data.Iterator, 'from_structure')))
    return [data.make_one_shot_iterator().get_next(), tf.constant(same)]
"""),
    ("matrices before 1.0", "", """
    a = tf.constant(x4[0, :, :, :])
    b = tf.batch_matmul(a, tf.batch_matrix_transpose(a)) + 2 * tf.eye(6, batch_shape=[6])[:, :6, :6]
    s, u, v = tf.batch_svd(b, True, True)
    c = tf.batch_cholesky(b)
    return [b, s, c, tf.batch_cholesky_solve(c, a), tf.batch_matrix_determinant(b),
            tf.batch_matrix_diag(a), tf.batch_matrix_diag_part(b), tf.batch_matrix_inverse(b),
            tf.batch_matrix_solve(b, a), tf.batch_matrix_triangular_solve(c, a),
            tf.matmul(u, tf.matmul(tf.matrix_diag(s), v, adjoint_b=True)),
            tf.image.per_image_whitening(x4[0])]
"""),
    ("cells before 1.0", "", """
    steps = tf.unpack(tf.constant(x4[:, :, 0, :]), axis=1)
    with tf.variable_scope('one'):
        outputs, state = tf.nn.rnn(tf.nn.rnn_cell.GRUCell(3), steps, dtype=tf.float32)
    with tf.variable_scope('two'):
        both, _, _ = tf.nn.bidirectional_rnn(
            tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2), steps, dtype=tf.float32)
    loss = tf.nn.seq2seq.sequence_loss_by_example(
        [outputs[0]], [tf.constant(labels[:4])], [tf.ones([4])])
    return [outputs[-1], state, both[0], loss]
"""),
    ("linear maps before 1.2", """\
from tensorflow.contrib.rnn.python.ops import core_rnn_cell_impl
from tensorflow.python.ops import rnn, rnn_cell
""", """
    steps = tf.unstack(tf.constant(x4[:, :, 0, :]), axis=1)
    cells = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(3)
    with tf.variable_scope('cells'):
        both, _, _ = rnn.bidirectional_rnn(*cells, steps, dtype=tf.float32)
        outputs, _ = rnn.rnn(tf.nn.rnn_cell.GRUCell(3), steps, dtype=tf.float32)
    x, y = tf.constant(x2), tf.constant(x2[:, :2])
    a = tf.nn.rnn_cell._linear([x, y], 4, True, 0.5)
    b = rnn_cell._linear(x, 3, False, scope='here')
    with tf.variable_scope('later'):
        c = core_rnn_cell_impl._linear([x, y], 2, True, bias_start=0.5)
    with tf.variable_scope('parts', partitioner=tf.fixed_size_partitioner(2)):
        d = core_rnn_cell_impl._linear([x], 2, True)
    return [a, b, c, d, both[1], outputs[1]]
"""),
    ("summaries inside before 1.5", "from tensorflow.python.ops import gen_logging_ops\n", """
    x = tf.constant(x2)
    made = [gen_logging_ops._image_summary('seen', tf.constant(x4), max_images=2),
            gen_logging_ops._histogram_summary('x', x),
            gen_logging_ops._scalar_summary(['a', 'b'], x[0, :2])]
    made.append(gen_logging_ops._merge_summary(made[1:]))
    return [tf.cast(tf.decode_raw(one, tf.uint8), tf.int32) for one in made]
"""),
    ("INITIAL bias before 1.2", "", """
    x = tf.constant(x2)
    with tf.variable_scope('all', initializer=tf.zeros_initializer()):
        return [tf.nn.rnn_cell._linear([x, x], 4, True, 0.5),
                tf.contrib.rnn.python.ops.core_rnn_cell_impl._linear(x, 2, True, bias_start=0.5)]
"""),
    ("a triangle before 1.4", "", """
    a = tf.constant(x4[0, :, :, 0])
    lower = tf.contrib.linalg.LinearOperatorTriL(a, is_non_singular=True)
    return [lower.to_dense(), lower.matmul(a), lower.solve(a), lower.determinant(),
            lower.log_abs_determinant()]
"""),
    ("hooks of Estimators before 1.14", "", """
    def input_fn():
        return tf.data.Dataset.from_tensors(({'x': x2}, labels[:, None])).repeat()

    tf.logging._logger.setLevel(tf.logging.WARN)
    assert tf.logging.get_verbosity() == tf.logging.WARN
    columns = [tf.feature_column.numeric_column('x', [5])]
    estimator = tf.estimator.LinearClassifier(columns, n_classes=3)
    hooks = [
        tf.contrib.estimator.InMemoryEvaluatorHook(estimator, input_fn, steps=1),
        tf.contrib.estimator.stop_if_no_decrease_hook(estimator, 'loss', 100, run_every_steps=1,
                                                      run_every_secs=None),
        tf.contrib.estimator.stop_if_no_increase_hook(estimator, 'loss', 100),
        tf.contrib.estimator.stop_if_higher_hook(estimator, 'loss', 100.0),
        tf.contrib.estimator.stop_if_lower_hook(estimator, 'loss', 0.0),
        tf.contrib.estimator.make_stop_at_checkpoint_step_hook(estimator, 5),
        tf.contrib.estimator.make_early_stopping_hook(
            estimator, lambda: True, run_every_secs=None, run_every_steps=2)]
    estimator.train(input_fn, steps=10, hooks=hooks)
    return [tf.constant(estimator.get_variable_value('global_step')),
            tf.constant(estimator.evaluate(input_fn, steps=1)['loss'])]
"""),
    ("summaries before 1.0", "import tempfile\n", """
    x = tf.constant(x2)
    made = [tf.scalar_summary('loss', tf.reduce_sum(x)),
            tf.scalar_summary(tags='mean', values=tf.reduce_mean(x)),
            tf.histogram_summary('x', x), tf.histogram_summary(tag='y', values=2 * x),
            tf.audio_summary('heard', x[:, :1], 8000.0, 1)]
    seen = tf.image_summary('seen', tf.constant(x4), max_images=2)
    every = tf.merge_all_summaries()
    made += [tf.merge_summary(made[:2]), tf.merge_summary(made[2:4], collections=[])]
    writer = tf.train.SummaryWriter(tempfile.mkdtemp(), tf.get_default_graph())
    writer.close()
    read = [tf.cast(tf.decode_raw(one, tf.uint8), tf.int32) for one in made]
    return [*read, tf.to_float(tf.strings.length(every) > tf.strings.length(seen))]
"""),
)  # fmt: skip

# Those that TF 1.15 has under no name: what the releases that had them did, written out.
_WRITTEN_OUT = (
    ("linear maps before 1.2", "", """
    steps = tf.unstack(tf.constant(x4[:, :, 0, :]), axis=1)
    cells = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.GRUCell(3)
    with tf.variable_scope('cells'):
        both, _, _ = tf.nn.static_bidirectional_rnn(*cells, steps, dtype=tf.float32)
        outputs, _ = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(3), steps, dtype=tf.float32)
    x, y = tf.constant(x2), tf.constant(x2[:, :2])
    start = tf.constant_initializer(0.5)
    together = tf.concat([x, y], 1)
    with tf.variable_scope('Linear'):
        a = tf.matmul(together, tf.get_variable('Matrix', [7, 4]))
        a = a + tf.get_variable('Bias', [4], initializer=start)
    with tf.variable_scope('here'):
        b = tf.matmul(x, tf.get_variable('Matrix', [5, 3]))
    with tf.variable_scope('later'):
        c = tf.matmul(together, tf.get_variable('weights', [7, 2]))
        c = tf.nn.bias_add(c, tf.get_variable('biases', [2], initializer=start))
    with tf.variable_scope('parts', partitioner=tf.fixed_size_partitioner(2)):
        d = tf.matmul(x, tf.get_variable('weights', [5, 2]))
    with tf.variable_scope('parts'):
        d = tf.nn.bias_add(d, tf.get_variable('biases', [2], initializer=tf.zeros_initializer()))
    return [a, b, c, d, both[1], outputs[1]]
"""),
    ("summaries inside before 1.5", "from tensorflow.python.ops import gen_logging_ops\n", """
    x = tf.constant(x2)
    made = [gen_logging_ops.image_summary('seen', tf.constant(x4), max_images=2),
            gen_logging_ops.histogram_summary('x', x),
            gen_logging_ops.scalar_summary(['a', 'b'], x[0, :2])]
    made.append(gen_logging_ops.merge_summary(made[1:]))
    return [tf.cast(tf.decode_raw(one, tf.uint8), tf.int32) for one in made]
"""),
    ("INITIAL bias before 1.2", "", """
    zeros, start = tf.zeros_initializer(), tf.constant_initializer(0.5)
    x = tf.constant(x2)
    with tf.variable_scope('all'):
        a = tf.matmul(tf.concat([x, x], 1), tf.get_variable('Linear/Matrix', [10, 4], None, zeros))
        a = a + tf.get_variable('Linear/Bias', [4], None, start)
        b = tf.matmul(x, tf.get_variable('weights', [5, 2], None, zeros))
        return [a, b + tf.get_variable('biases', [2], None, start)]
"""),
)  # fmt: skip

_PROGRAM = """\
import numpy as np
import tensorflow as tf
{imports}

def build(x2, x4, labels, onehot):
{body}

if __name__ == '__main__':
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
"""


def programs() -> dict[str, str]:
    """Every program's text, by name."""
    return _texts((*_BODIES, *contrib_sequences.BODIES))


def earlier_programs() -> dict[str, str]:
    """The texts of those of an early TensorFlow, by name."""
    return _texts(_EARLIER)


def written_out() -> dict[str, str]:
    """What TF 1.15 runs for those of which it has no name."""
    return _texts(_WRITTEN_OUT)


def _texts(bodies: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    return {
        name: _PROGRAM.format(imports=imports, body=body.strip("\n"))
        for name, imports, body in bodies
    }
