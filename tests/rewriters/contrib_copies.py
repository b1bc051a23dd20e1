"""Programs of TF1 with names of ``contrib_copies.json``, in the form of ``contrib_programs.py``."""

from __future__ import annotations

_SEQ = "from tensorflow.contrib import seq2seq\n"
_DECODED = """
    cell = tf.nn.rnn_cell.GRUCell(3)
    embedding = tf.get_variable('embedding', [5, 3])
    memory = tf.constant(x4[:, 0])
    lengths = tf.constant([6, 4, 5, 2])
"""

# Name, imports, body.
BODIES = (
    ("sequence_loss", _SEQ, """
    logits, targets = tf.constant(x4[:, 0]), tf.constant(labels[None] + [[0]] * 4)
    weights = tf.constant(np.abs(x4[:, 1, :, 0]))
    w = tf.get_variable('w', [3])
    loss = seq2seq.sequence_loss(logits * w, targets, weights)
    return [loss, seq2seq.sequence_loss(logits, targets, weights, average_across_batch=False),
            seq2seq.sequence_loss(logits * w, targets, weights, False, False),
            seq2seq.sequence_loss(logits, targets, weights, False, False, True, True),
            seq2seq.sequence_loss(logits, targets, weights, False, False, sum_over_batch=True)]
"""),
    ("a decoder that is trained", _SEQ, _DECODED + """
    helper = seq2seq.TrainingHelper(memory, lengths)
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(4, tf.float32),
                                   output_layer=tf.layers.Dense(5, use_bias=False))
    assert isinstance(decoder, seq2seq.Decoder) and isinstance(helper, seq2seq.Helper)
    outputs, state, ends = seq2seq.dynamic_decode(decoder, impute_finished=True)
    assert isinstance(outputs, seq2seq.BasicDecoderOutput)
    decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(memory[:, 1:], lengths - 1), state)
    late, _, _ = seq2seq.dynamic_decode(
        decoder, output_time_major=True, maximum_iterations=3, scope='late')
    return [outputs.rnn_output, outputs.sample_id, state, ends, late.rnn_output, embedding]
"""),
    ("decoders that go on by themselves", _SEQ, _DECODED + """
    start, first = tf.constant([1, 2, 3, 1]), cell.zero_state(4, tf.float32)
    greedy = seq2seq.GreedyEmbeddingHelper(embedding, start, 4)
    layer = tf.layers.Dense(5, use_bias=False)
    decoder = seq2seq.BasicDecoder(cell, greedy, first, layer)
    a, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=5)
    infer = seq2seq.InferenceHelper(
        lambda outputs: tf.nn.relu(outputs), [3], tf.float32, memory[:, 0],
        lambda ids: tf.greater(tf.reduce_sum(ids, 1), 100.0))
    b, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, infer, first), maximum_iterations=3)
    own = seq2seq.CustomHelper(
        lambda: (tf.constant([False] * 4), memory[:, 0]),
        lambda time, outputs, state: tf.cast(tf.argmax(outputs, 1), tf.int32),
        lambda time, outputs, state, sample_ids: (tf.fill([4], time > 1), memory[:, 1], state))
    c, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, own, first))
    return [a.rnn_output, a.sample_id, state, b.rnn_output, b.sample_id, c.rnn_output, c.sample_id]
"""),
    ("decoders that draw", _SEQ, _DECODED + """
    start, first = tf.constant([1, 2, 3, 1]), cell.zero_state(4, tf.float32)
    layer = tf.layers.Dense(5, use_bias=False)
    helper = seq2seq.SampleEmbeddingHelper(embedding, start, 4, softmax_temperature=0.5, seed=3)
    a, _, _ = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(cell, helper, first, layer), maximum_iterations=3)
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(
        memory, lengths, embedding, 0.0, seed=4, scheduling_seed=5)
    b, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, first, layer))
    helper = seq2seq.ScheduledOutputTrainingHelper(memory, lengths, 1.0, seed=6)
    c, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, first))
    return [tf.shape(a.sample_id), b.rnn_output, b.sample_id, c.rnn_output]
"""),
    ("attention", _SEQ, _DECODED + """
    found = []
    for name, mechanism in (
        ('luong', seq2seq.LuongAttention(3, memory, lengths, scale=True)),
        ('bahdanau', seq2seq.BahdanauAttention(4, memory, lengths, normalize=True)),
    ):
        assert isinstance(mechanism, seq2seq.AttentionMechanism)
        with tf.variable_scope(name):
            wrapped = seq2seq.AttentionWrapper(
                cell, mechanism, attention_layer_size=2, alignment_history=True)
            first = wrapped.zero_state(4, tf.float32)
            assert isinstance(first, seq2seq.AttentionWrapperState)
            helper = seq2seq.TrainingHelper(memory, lengths)
            outputs, state, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(wrapped, helper, first))
            found += [outputs.rnn_output, state.attention, state.alignment_history.stack()]
    for mechanism in (
        seq2seq.LuongMonotonicAttention(3, memory, lengths, mode='parallel', scale=True),
        seq2seq.BahdanauMonotonicAttention(4, memory, mode='hard', score_bias_init=0.5),
    ):
        before = mechanism.initial_state(4, tf.float32)
        found += mechanism(memory[:, 0], before)
    return found
"""),
    ("beam search", _SEQ, _DECODED + """
    tiled = seq2seq.tile_batch(memory, multiplier=3)
    attention = seq2seq.BahdanauAttention(4, tiled, seq2seq.tile_batch(lengths, 3))
    wrapped = seq2seq.AttentionWrapper(cell, attention, attention_layer_size=3)
    first = wrapped.zero_state(12, tf.float32).clone(
        cell_state=seq2seq.tile_batch(memory[:, 0], multiplier=3))
    decoder = seq2seq.BeamSearchDecoder(
        wrapped, embedding, tf.fill([4], 1), 2, first, beam_width=3,
        output_layer=tf.layers.Dense(5, use_bias=False), length_penalty_weight=0.5)
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    assert isinstance(outputs, seq2seq.FinalBeamSearchDecoderOutput)
    assert isinstance(state, seq2seq.BeamSearchDecoderState)
    assert isinstance(outputs.beam_search_decoder_output, seq2seq.BeamSearchDecoderOutput)
    return [outputs.predicted_ids, outputs.beam_search_decoder_output.scores, state.log_probs,
            lengths]
"""),
    ("gather_tree", """\
from tensorflow.contrib.seq2seq.python.ops import beam_search_ops
from tensorflow.contrib.seq2seq.python.ops.beam_search_decoder import gather_tree_from_array
from tensorflow.contrib.seq2seq.python.ops.decoder import _transpose_batch_time
""" + _SEQ, """
    random = np.random.RandomState(0)
    found = []
    for end in (0, 3, 9):
        ids = tf.constant(random.randint(0, 5, (6, 4, 3)), tf.int32)
        parents = tf.constant(random.randint(0, 3, (6, 4, 3)), tf.int32)
        found.append(seq2seq.gather_tree(ids, parents, tf.constant([6, 3, 0, 5]), end))
        found.append(beam_search_ops.gather_tree(
            step_ids=ids, parent_ids=parents, max_sequence_lengths=tf.constant([9, 1, 2, 6]),
            end_token=end))
    values = tf.constant(random.rand(6, 4, 3), tf.float32)
    found.append(gather_tree_from_array(values, parents, tf.fill([4, 3], 6)))
    return found + [_transpose_batch_time(values)]
"""),
    ("parts of attention", _SEQ, """
    x = tf.sigmoid(tf.constant(x2))
    y = tf.nn.softmax(tf.constant(x2))
    return [seq2seq.hardmax(x), seq2seq.safe_cumprod(x, axis=1, exclusive=True),
            seq2seq.monotonic_attention(x, y, 'recursive'),
            seq2seq.monotonic_attention(x, y, 'parallel'),
            seq2seq.monotonic_attention(tf.round(x), y, 'hard')]
"""),
    ("legacy losses", "from tensorflow.contrib import legacy_seq2seq\n", """
    logits = [tf.constant(x2) * tf.get_variable('w', [5]), tf.constant(x2[::-1])]
    targets = [tf.constant(labels), tf.constant(labels[::-1])]
    weights = [tf.ones([6]), tf.constant(np.abs(x2[:, 0]))]
    return [tf.contrib.legacy_seq2seq.sequence_loss_by_example(logits, targets, weights, 5),
            legacy_seq2seq.sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps=False),
            legacy_seq2seq.sequence_loss(logits, targets, weights),
            legacy_seq2seq.sequence_loss(logits, targets, weights, average_across_batch=False)]
"""),
    ("legacy rnn_decoder", "from tensorflow.contrib.legacy_seq2seq import rnn_decoder\n", """
    steps = tf.unstack(tf.constant(x4[:, 0]), axis=1)
    cell = tf.nn.rnn_cell.BasicLSTMCell(3)
    first = cell.zero_state(4, tf.float32)
    outputs, last = rnn_decoder(steps, first, cell)
    others, _ = rnn_decoder(steps, first, cell, lambda before, i: before * 0.5, scope='other')
    return [outputs[-1], last.c, others[-1]]
"""),
    ("legacy models", "import tensorflow.contrib.legacy_seq2seq as legacy\n", """
    steps = tf.unstack(tf.constant(x4[:, 0]), axis=1)[:2]
    ids = [tf.constant(labels[:4]), tf.constant(labels[2:])]
    make = lambda: tf.nn.rnn_cell.GRUCell(3)
    found = []
    with tf.variable_scope('a'):
        found += legacy.basic_rnn_seq2seq(steps, steps, make())[0]
    with tf.variable_scope('b'):
        found += legacy.tied_rnn_seq2seq(steps, steps, make())[0]
    with tf.variable_scope('c'):
        found += legacy.embedding_rnn_seq2seq(ids, ids, make(), 4, 5, 3)[0]
    with tf.variable_scope('d'):
        found += legacy.embedding_attention_seq2seq(ids, ids, make(), 4, 5, 3, num_heads=2)[0]
    with tf.variable_scope('e'):
        found += legacy.embedding_tied_rnn_seq2seq(ids, ids, make(), 5, 3)[0]
    with tf.variable_scope('f'):
        found += legacy.attention_decoder(
            steps, steps[0], tf.constant(x4[:, 0]), make(), output_size=2)[0]
    with tf.variable_scope('g'):
        found += legacy.embedding_rnn_decoder(ids, steps[0], make(), 5, 3, feed_previous=False)[0]
    with tf.variable_scope('h'):
        found += legacy.embedding_attention_decoder(
            ids, steps[0], tf.constant(x4[:, 0]), make(), 5, 3)[0]
    with tf.variable_scope('i'):
        _, losses = legacy.model_with_buckets(
            ids, ids, ids, [tf.ones([4])] * 2, [(1, 1), (2, 2)],
            lambda x, y: legacy.embedding_rnn_seq2seq(x, y, make(), 4, 5, 3))
    return found + losses
"""),
    ("crf", """\
from tensorflow.contrib import crf
""", """
    inputs = tf.constant(x4[:, 0])
    tags = tf.constant(labels[None] + [[0]] * 4)
    lengths = tf.constant([6, 4, 1, 3])
    likelihood, transitions = crf.crf_log_likelihood(inputs, tags, lengths)
    decoded, score = crf.crf_decode(inputs, transitions, lengths)
    bitmap = tf.greater(tf.constant(x4[:, 1]), 0.0)
    return [likelihood, tf.convert_to_tensor(transitions), decoded, score,
            crf.crf_sequence_score(inputs, tags, lengths, transitions),
            crf.crf_multitag_sequence_score(inputs, bitmap, lengths, transitions),
            crf.crf_log_norm(inputs, lengths, transitions),
            crf.crf_unary_score(tags, lengths, inputs),
            crf.crf_binary_score(tags, lengths, transitions),
            tf.contrib.crf.crf_decode(inputs[:, :1], transitions, tf.ones([4], tf.int32))[0]]
"""),
    ("ROUNDED cells of contrib", """\
from tensorflow.contrib import rnn
from tensorflow.contrib.rnn.python.ops import rnn_cell
from tensorflow.contrib.rnn import LayerNormBasicLSTMCell
""", """
    x = tf.constant(x4[:, 0, 0])
    found = []
    for index, cell in enumerate((
        LayerNormBasicLSTMCell(4, forget_bias=0.5, norm_gain=0.9), rnn_cell.NASCell(4, num_proj=3),
        rnn.NASCell(2, use_bias=True), rnn.LayerNormBasicLSTMCell(3, layer_norm=False),
        rnn.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(3), 2),
        rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(3)),
        rnn.CoupledInputForgetGateLSTMCell(4, use_peepholes=True, num_proj=3),
        rnn.UGRNNCell(3), rnn.IntersectionRNNCell(3), rnn.IndRNNCell(3), rnn.IndyGRUCell(3),
        rnn.IndyLSTMCell(3),
        rnn.InputProjectionWrapper(tf.nn.rnn_cell.GRUCell(3), 2),
        rnn.OutputProjectionWrapper(tf.nn.rnn_cell.GRUCell(3), 2),
    )):
        with tf.variable_scope('cell%d' % index):
            output, state = cell(x, cell.zero_state(4, tf.float32))
            with tf.variable_scope(tf.get_variable_scope(), reuse=True):
                found.append(cell(x + 0.5, state)[0])
    ids = tf.constant(labels[:4, None])
    cell = rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(3), 4, 2)
    found.append(cell(ids, cell.zero_state(4, tf.float32))[0])
    return found
"""),
    ("cells of convolutions", "from tensorflow.contrib import rnn\n", """
    x = tf.constant(x4)
    found = []
    for index, (cell, value) in enumerate((
        (rnn.ConvLSTMCell(1, [6, 3], 2, [3]), x[:, 0]),
        (rnn.Conv1DLSTMCell(input_shape=[6, 3], output_channels=2, kernel_shape=[2]), x[:, 1]),
        (rnn.Conv2DLSTMCell(input_shape=[6, 6, 3], output_channels=2, kernel_shape=[2, 2],
                            use_bias=False), x),
        (rnn.Conv3DLSTMCell(input_shape=[2, 6, 6, 3], output_channels=1, kernel_shape=[1, 2, 2]),
         tf.stack([x, x], 1)),
    )):
        with tf.variable_scope('conv%d' % index):
            output, state = cell(value, cell.zero_state(4, tf.float32))
            found += [output, state.c]
    return found
"""),
    ("stacks and a linear map", """\
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _Linear
from tensorflow.contrib.rnn import stack_bidirectional_dynamic_rnn
""", """
    x = tf.constant(x4[:, 0])
    cells = lambda: [tf.nn.rnn_cell.BasicRNNCell(2), tf.nn.rnn_cell.BasicRNNCell(3)]
    outputs, fw, bw = stack_bidirectional_dynamic_rnn(
        cells(), cells(), x, dtype=tf.float32, sequence_length=[6, 3, 2, 5])
    others, _, _ = tf.contrib.rnn.stack_bidirectional_rnn(
        cells(), cells(), tf.unstack(x, axis=1)[:2], dtype=tf.float32, scope='static')
    linear = _Linear([x[:, 0], x[:, 1]], 4, True)
    return [outputs, fw[1], bw[0], others[-1], linear([x[:, 0], x[:, 1]])]
"""),
    ("a cell like cuDNN's", "", """
    x = tf.constant(x4[:, 0])
    gru = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4)
    return [gru(x[:, 0], gru.zero_state(4, tf.float32))[0]]
"""),
    ("dense_image_warp", "from tensorflow.contrib.image import dense_image_warp\n", """
    flow = tf.constant(x4[..., :2] * 2.0)
    return [tf.contrib.image.dense_image_warp(tf.constant(x4), flow),
            dense_image_warp(tf.get_variable('w', [4, 6, 6, 3]), flow * 0.3)]
"""),
    ("TRAIN AdamW", "from tensorflow.contrib.opt import AdamWOptimizer\n", """
    w, v = tf.get_variable('w', [5, 2]), tf.get_variable('v', [4, 2])
    loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x2), w)))
    loss += tf.reduce_sum(tf.gather(v, [0, 2, 0]))
    optimizer = AdamWOptimizer(0.01, learning_rate=0.1)
    gradients = optimizer.compute_gradients(loss)
    with tf.control_dependencies([gradient.op for gradient, _ in gradients]):  # TF1 itself races
        return [optimizer.apply_gradients(gradients)]
"""),
    ("TRAIN weight decay", "", """
    w, v = tf.get_variable('w', [5, 2]), tf.get_variable('v', [4, 2])
    loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x2), w)))
    loss += tf.reduce_sum(tf.gather(v, [0, 2, 0]))
    momentum = tf.contrib.opt.MomentumWOptimizer(0.01, learning_rate=0.01, momentum=0.9)
    other = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
    assert issubclass(other, tf.contrib.opt.DecoupledWeightDecayExtension)
    gradients = momentum.compute_gradients(loss)
    with tf.control_dependencies([gradient.op for gradient, _ in gradients]):  # TF1 itself races
        first = momentum.apply_gradients(gradients, decay_var_list=[w])
        with tf.control_dependencies([first]):
            return [other(0.02, learning_rate=0.1).apply_gradients(gradients)]
"""),
    ("TRAIN LazyAdam", "", """
    w, v = tf.get_variable('w', [5, 2]), tf.get_variable('v', [4, 2])
    r = tf.get_variable('r', [4, 2], use_resource=True)
    loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x2), w)))
    loss += tf.reduce_sum(tf.gather(v, [0, 2, 0])) + tf.reduce_sum(tf.gather(r, [1, 1, 3]))
    optimizer = tf.contrib.opt.LazyAdamOptimizer(learning_rate=0.1, epsilon=0.01)
    return [optimizer.minimize(loss)]
"""),
    ("scipy", "import sys\nimport types\n", """
    class Result(dict):
        __getattr__ = dict.get
    def minimize(fun, start, args=(), jac=None, method=None, callback=None, **others):
        at = np.array(start)
        for _ in range(4):
            at = at - 0.01 * fun(at)[1]
            callback(at) if callback else None
        return Result(x=at, message='done', fun=fun(at)[0], nit=4, nfev=5)
    scipy = types.ModuleType('scipy')
    scipy.optimize = types.ModuleType('scipy.optimize')
    scipy.optimize.minimize = minimize
    sys.modules.update({'scipy': scipy, 'scipy.optimize': scipy.optimize})
    w = tf.get_variable('w', [5, 2])
    loss = tf.reduce_sum(tf.square(tf.matmul(tf.constant(x2), w) - 1.0))
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, options={'maxiter': 4})
    assert isinstance(optimizer, tf.contrib.opt.ExternalOptimizerInterface)
    steps = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        w.load(x2[:5, :2], sess)
        optimizer.minimize(sess, fetches=[loss], loss_callback=steps.append)
        return [tf.constant(sess.run(w)), tf.constant(np.float32(steps))]
"""),
)  # fmt: skip
