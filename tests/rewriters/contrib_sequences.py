"""Programs of ``tf.contrib.seq2seq`` and its kin, in the form of ``contrib_programs.py``."""

from __future__ import annotations

_SEQ2SEQ = "seq2seq = tf.contrib.seq2seq\n"
# An encoder's outputs and last state, embeddings, and the layer behind the decoder.
_ENCODED = """
    tf.set_random_seed(1)
    memory = tf.constant(np.sin(np.arange(3 * 4 * 5) * 0.3).reshape(3, 4, 5).astype(np.float32))
    lengths = tf.constant([4, 2, 3])
    cell = tf.nn.rnn_cell.LSTMCell(5)
    encoded, state = tf.nn.dynamic_rnn(
        cell, memory, sequence_length=lengths, dtype=tf.float32, scope='encoder')
    embedding = tf.get_variable('embedding', [7, 5])
    layer = tf.layers.Dense(7, name='words')
    def shapes(tensors):
        return tf.constant([-1 if n is None else n for t in tensors for n in t.shape.as_list()])
"""

BODIES = (
    ("a decoder that reads its inputs", _SEQ2SEQ, _ENCODED + """
    words = tf.constant([[1, 2, 3, 4], [5, 6, 0, 0], [2, 1, 3, 0]])
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, words), lengths)
    decoder = seq2seq.BasicDecoder(tf.nn.rnn_cell.GRUCell(5), helper, state.h, layer)
    a, end, steps = seq2seq.dynamic_decode(decoder)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, words), lengths)
    b, imputed, _ = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(tf.nn.rnn_cell.BasicLSTMCell(5), helper, state),
        impute_finished=True, output_time_major=True, scope='imputed')
    early = seq2seq.TrainingHelper(tf.transpose(encoded, [1, 0, 2]), [0, 2, 3], time_major=True)
    c, _, cut = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(tf.nn.rnn_cell.GRUCell(5), early, state.c),
        maximum_iterations=2, scope='cut')
    total = tf.reduce_sum(a.rnn_output) + tf.reduce_sum(b.rnn_output ** 2) + tf.reduce_sum(end)
    return [tf.reshape(total, [1]), a.rnn_output, a.sample_id, end, steps, *b, *imputed, *c, cut,
            shapes([*a, end, steps, *b, *imputed, *c])]
"""),
    ("networks of symbols", "", """
    legacy = tf.contrib.legacy_seq2seq
    def made(name, **kwargs):
        with tf.variable_scope(name):
            cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])
            return legacy.embedding_rnn_seq2seq(source, target, cell, 3, 5, 3, **kwargs)
    source = [tf.constant(labels), tf.constant(labels[::-1].copy()), tf.constant(labels)]
    target = [tf.constant(labels + 1), tf.constant(labels[::-1] + 2)]
    a, state = made('given')
    b, _ = made('fed', feed_previous=True)
    c, other = made('chosen', feed_previous=tf.constant(True), dtype=tf.float32)
    d, _ = made('other', feed_previous=tf.constant(False), scope='inner')
    w, v = tf.get_variable('w', [4, 5]), tf.get_variable('v', [5])
    e, _ = made('projected', output_projection=(w, v), feed_previous=True)
    cell = tf.nn.rnn_cell.GRUCell(4)
    rows = [tf.constant(x4[:, 0, step]) for step in range(3)]
    f, _ = legacy.basic_rnn_seq2seq(rows, rows[:2], tf.nn.rnn_cell.GRUCell(4))
    g, _ = legacy.tied_rnn_seq2seq(rows, rows[:2], cell, lambda output, step: output[:, :3])
    h, _ = legacy.embedding_rnn_decoder(target, tf.zeros([6, 4]), tf.nn.rnn_cell.GRUCell(4), 5, 3)
    return [*a, *b, *c, *d, *e, *f, *g, *h, state[1].h, other[0].c]
"""),
    ("networks of symbols with attention", "", """
    legacy = tf.contrib.legacy_seq2seq
    source = [tf.constant(labels), tf.constant(labels[::-1].copy()), tf.constant(labels)]
    target = [tf.constant(labels + 1), tf.constant(labels[::-1] + 2)]
    def made(name, **kwargs):
        with tf.variable_scope(name):
            cell = tf.nn.rnn_cell.LSTMCell(4)
            return legacy.embedding_attention_seq2seq(source, target, cell, 3, 5, 3, **kwargs)
    a, state = made('given', num_heads=2)
    b, _ = made('fed', feed_previous=True, initial_state_attention=True)
    c, _ = made('chosen', feed_previous=tf.constant(False))
    w, v = tf.get_variable('w', [4, 5]), tf.get_variable('v', [5])
    d, _ = made('projected', output_projection=(w, v), feed_previous=True)
    rows = [tf.constant(x4[:, 0, step]) for step in range(3)]
    e, _ = legacy.attention_decoder(rows, tf.zeros([4, 4]), tf.constant(x4[:, 1]),
                                    tf.nn.rnn_cell.GRUCell(4), 2, scope='attend')
    f, _ = legacy.embedding_attention_decoder(
        target, tf.zeros([6, 4]), tf.constant(x2[:, :, None]), tf.nn.rnn_cell.GRUCell(4), 5, 3)
    def network(first, second):
        with tf.variable_scope('bucket'):
            return legacy.embedding_attention_seq2seq(
                first, second, tf.nn.rnn_cell.GRUCell(3), 3, 5, 3)
    weights = [tf.constant(x2[:, 0] ** 2), tf.constant(x2[:, 1] ** 2)]
    answers = [tf.constant(labels), tf.constant(labels)]
    g, losses = legacy.model_with_buckets(
        source, target, answers, weights, [(2, 1), (3, 2)], network)
    def loss(labels, logits):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits * 2.0)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        _, each = legacy.model_with_buckets(
            source, target, answers, weights, [(3, 2)], network, loss, per_example_loss=True)
    return [*a, *b, *c, *d, *e, *f, *g[0], *g[1], *losses, *each, state.h]
"""),
    ("a decoder that reads its words", _SEQ2SEQ, _ENCODED + """
    greedy = seq2seq.GreedyEmbeddingHelper(embedding, tf.fill([3], 1), 2)
    decoder = seq2seq.BasicDecoder(
        cell=tf.nn.rnn_cell.GRUCell(5), helper=greedy, initial_state=state.h, output_layer=layer)
    a, end, steps = seq2seq.dynamic_decode(decoder, maximum_iterations=tf.reduce_max(lengths) + 3)
    drawn = seq2seq.SampleEmbeddingHelper(
        lambda ids: tf.one_hot(ids, 7), [1, 3, 5], 2, softmax_temperature=0.7, seed=4)
    b, _, other = seq2seq.dynamic_decode(
        seq2seq.BasicDecoder(tf.nn.rnn_cell.GRUCell(5), drawn, state.h, layer),
        maximum_iterations=5, parallel_iterations=1, scope='drawn')
    return [tf.reshape(tf.reduce_sum(a.rnn_output), [1]), *a, end, steps, *b, other,
            shapes([*a, *b])]
"""),
    ("scheduled samples", _SEQ2SEQ, _ENCODED + """
    words = tf.constant([[1, 2, 3, 4], [5, 6, 0, 0], [2, 1, 3, 0]])
    inputs = tf.nn.embedding_lookup(embedding, words)
    results = []
    for name, helper in (
        ('words', seq2seq.ScheduledEmbeddingTrainingHelper(
            inputs, lengths, embedding, 0.6, seed=3, scheduling_seed=5)),
        ('outputs', seq2seq.ScheduledOutputTrainingHelper(inputs, lengths, 0.5, seed=7)),
        ('beside', seq2seq.ScheduledOutputTrainingHelper(
            inputs, lengths, 0.5, seed=7, auxiliary_inputs=encoded)),
        ('made', seq2seq.ScheduledOutputTrainingHelper(
            inputs, lengths, 0.7, seed=9, next_inputs_fn=lambda y: 2.0 * y,
            auxiliary_inputs=encoded))):
        decoder = seq2seq.BasicDecoder(
            tf.nn.rnn_cell.GRUCell(5), helper, state.h, layer if name == 'words' else None)
        # Steps side by side draw in any order, in TF1 as well.
        outputs, _, _ = seq2seq.dynamic_decode(decoder, parallel_iterations=1, scope=name)
        results += [tf.reshape(tf.reduce_sum(outputs.rnn_output), [1]), *outputs]
    return results
"""),
    ("helpers of one's own", "from tensorflow.contrib.seq2seq import (\n"
     "    BasicDecoder, CustomHelper, Decoder, Helper, InferenceHelper, dynamic_decode)\n"
     "from tensorflow.contrib.seq2seq.python.ops import decoder as decoders\n", _ENCODED + """
    class Halves(Helper):
        @property
        def batch_size(self):
            return 3
        @property
        def sample_ids_shape(self):
            return tf.TensorShape([5])
        @property
        def sample_ids_dtype(self):
            return tf.float32
        def initialize(self, name=None):
            return tf.tile([False], [3]), tf.ones([3, 5])
        def sample(self, time, outputs, state, name=None):
            return outputs * 0.5
        def next_inputs(self, time, outputs, state, sample_ids, name=None):
            return tf.fill([3], time > 2), sample_ids, state
    class Sums(Decoder):
        batch_size, output_size, output_dtype = 3, tf.TensorShape([5]), tf.float32
        def initialize(self, name=None):
            return tf.tile([False], [3]), tf.ones([3, 5]), tf.zeros([3, 5])
        def step(self, time, inputs, state, name=None):
            return state, state + inputs, 2.0 * inputs, tf.greater([time, time, time], [1, 2, 0])
        def finalize(self, outputs, final_state, sequence_lengths):
            return outputs + 1.0, tf.reduce_sum(final_state)
    custom = CustomHelper(
        lambda: (tf.tile([False], [3]), tf.ones([3, 5])),
        lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
        lambda time, outputs, state, sample_ids: (
            tf.fill([3], time > 3), tf.nn.embedding_lookup(embedding, sample_ids), state))
    inference = InferenceHelper(
        lambda outputs: outputs[:, :2], [2], tf.float32, tf.ones([3, 2]),
        lambda sample: tf.reduce_sum(sample, 1) > 0.3)
    made = InferenceHelper(
        lambda outputs: outputs[:, 0] > 0.0, sample_shape=[], sample_dtype=tf.bool,
        start_inputs=tf.ones([3, 4]), end_fn=lambda sample: sample,
        next_inputs_fn=lambda sample: tf.tile(tf.to_float(sample)[:, None], [1, 4]))
    results = []
    for index, helper in enumerate((Halves(), custom, inference, made)):
        outputs, end, steps = dynamic_decode(
            BasicDecoder(tf.nn.rnn_cell.GRUCell(5), helper, state.h), maximum_iterations=6,
            scope='helper_%d' % index)
        results += [tf.reshape(tf.reduce_sum(outputs.rnn_output), [1]), *outputs, end, steps]
    return [*results, *dynamic_decode(Sums()), decoders._transpose_batch_time(encoded)]
"""),
    ("attention in a decoder", _SEQ2SEQ, _ENCODED + """
    words = tf.constant([[1, 2, 3, 4], [5, 6, 0, 0], [2, 1, 3, 0]])
    results = []
    for name, mechanism, options in (
        ('luong', seq2seq.LuongAttention(5, encoded, lengths, scale=True),
         {'attention_layer_size': 6}),
        ('plain', seq2seq.LuongAttention(5, encoded, score_mask_value=-9.0),
         {'alignment_history': True, 'output_attention': False}),
        ('bahdanau', seq2seq.BahdanauAttention(4, encoded, memory_sequence_length=lengths),
         {'attention_layer_size': 3, 'initial_cell_state': state, 'name': 'attending'}),
        ('normalized', seq2seq.BahdanauAttention(4, encoded, lengths, normalize=True,
                                                 probability_fn=seq2seq.hardmax),
         {'attention_layer': tf.layers.Dense(4, tf.tanh), 'alignment_history': True}),
        ('two', [seq2seq.BahdanauAttention(4, encoded, lengths, name='a'),
                 seq2seq.LuongAttention(5, encoded, lengths, name='b')],
         {'attention_layer_size': [2, 3], 'alignment_history': True,
          'cell_input_fn': lambda x, attention: x + tf.reduce_sum(attention, 1)[:, None]})):
        wrapped = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(5), mechanism, **options)
        first = wrapped.zero_state(3, tf.float32)
        if name == 'luong':
            first = first.clone(cell_state=state)
        helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, words), lengths)
        outputs, end, steps = seq2seq.dynamic_decode(
            seq2seq.BasicDecoder(wrapped, helper, first, layer if name == 'luong' else None),
            scope=name)
        results += [tf.reshape(tf.reduce_sum(outputs.rnn_output), [1]), *outputs, steps]
        results += [end.attention, *end.cell_state, end.time, shapes([*outputs, end.attention])]
        if options.get('alignment_history'):
            histories = end.alignment_history if name == 'two' else [end.alignment_history]
            results += [history.stack() for history in histories]
    return results
"""),
    ("attention in a network",
     "from tensorflow.contrib.seq2seq.python.ops import attention_wrapper\n"
     "from tensorflow.contrib.seq2seq import AttentionWrapper, AttentionWrapperState\n",
     _ENCODED + """
    mechanism = attention_wrapper.BahdanauAttention(5, encoded)
    cells = tf.nn.rnn_cell.MultiRNNCell([
        AttentionWrapper(tf.nn.rnn_cell.GRUCell(5), mechanism, alignment_history=False),
        tf.nn.rnn_cell.GRUCell(4)])
    outputs, end = tf.nn.dynamic_rnn(cells, memory, dtype=tf.float32)
    same = isinstance(end[0], AttentionWrapperState)
    score = attention_wrapper._bahdanau_score(state.h, mechanism.keys, embedding[0])
    return [outputs, end[0].attention, end[1], tf.constant(float(same)), mechanism.values,
            mechanism.keys, score]
"""),
    ("attention that never goes back", _SEQ2SEQ + """\
import functools
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import (
    _BaseMonotonicAttentionMechanism, _monotonic_probability_fn)


class Forward(_BaseMonotonicAttentionMechanism):
    def __init__(self, units, memory, lengths):
        super(Forward, self).__init__(
            query_layer=tf.layers.Dense(
                units, name='query_layer', use_bias=False, dtype=tf.float32),
            memory_layer=tf.layers.Dense(
                units, name='memory_layer', use_bias=False, dtype=tf.float32),
            memory=memory, probability_fn=functools.partial(
                _monotonic_probability_fn, sigmoid_noise=0.4, mode='parallel', seed=2),
            memory_sequence_length=lengths, name='Forward')

    def __call__(self, query, state):
        with tf.variable_scope(None, 'forward', [query]):
            asked = tf.expand_dims(self.query_layer(query), 1)
            score = tf.reduce_sum(tf.tanh(self.keys + asked), 2)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


""", _ENCODED + """
    results = []
    for name, mechanism in (
        ('parallel', seq2seq.BahdanauMonotonicAttention(
            4, encoded, lengths, normalize=True, score_bias_init=-0.5)),
        ('recursive', seq2seq.LuongMonotonicAttention(
            5, encoded, lengths, scale=True, mode='recursive', sigmoid_noise=0.5,
            sigmoid_noise_seed=3)),
        ('hard', seq2seq.LuongMonotonicAttention(5, encoded, lengths, mode='hard')),
        ('own', Forward(4, encoded, lengths))):
        wrapped = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(5), mechanism, 5)
        decoder = seq2seq.BasicDecoder(
            wrapped, seq2seq.TrainingHelper(memory, lengths), wrapped.zero_state(3, tf.float32))
        outputs, _, _ = seq2seq.dynamic_decode(decoder, parallel_iterations=1, scope=name)
        results.append(outputs.rnn_output)
        results.append(tf.reshape(tf.reduce_sum(results[-1]), [1]))
    stay = tf.sigmoid(memory[:, 0])
    before = tf.one_hot([0, 1, 0], 5)
    for mode in ('recursive', 'parallel'):
        results.append(seq2seq.monotonic_attention(stay, before, mode))
    return [*results, seq2seq.hardmax(stay), seq2seq.safe_cumprod(stay, axis=1, exclusive=True)]
"""),
    ("beams", _SEQ2SEQ, _ENCODED + """
    tiled = seq2seq.tile_batch(state, multiplier=3)
    results = [tf.reshape(tf.reduce_sum(tiled.h * 2.0), [1]), *tiled]
    unknown = tf.placeholder_with_default(tf.constant([1, 3, 5]), [None])
    for name, starts, options in (
        ('plain', tf.fill([3], 1), {}), ('penalty', unknown, {'length_penalty_weight': 0.8})):
        decoder = seq2seq.BeamSearchDecoder(
            cell=tf.nn.rnn_cell.LSTMCell(5), embedding=embedding, start_tokens=starts, end_token=2,
            initial_state=tiled, beam_width=3, output_layer=layer, **options)
        for length in (1, 4, 9):
            with tf.variable_scope('search', reuse=tf.AUTO_REUSE):
                found, end, steps = seq2seq.dynamic_decode(decoder, maximum_iterations=length)
            results += [found.predicted_ids, *found.beam_search_decoder_output, steps, end.lengths,
                        end.log_probs, end.finished, *end.cell_state]
        results.append(shapes([found.predicted_ids, end.lengths]))
    return [results[0], *map(tf.stop_gradient, results[1:])]
"""),
    ("beams with attention", _SEQ2SEQ, _ENCODED + """
    results = []
    unknown = tf.placeholder_with_default(encoded, [None, None, 5])
    for name, memory, starts in (('known', encoded, tf.fill([3], 1)),
                                 ('unknown', unknown, tf.fill([tf.shape(unknown)[0]], 1))):
        tiled, long, last = seq2seq.tile_batch((memory, lengths, state), 2)
        mechanism = seq2seq.LuongAttention(5, tiled, long)
        wrapped = seq2seq.AttentionWrapper(
            tf.nn.rnn_cell.LSTMCell(5), mechanism, 5, alignment_history=True)
        first = wrapped.zero_state(tf.size(starts) * 2, tf.float32).clone(cell_state=last)
        decoder = seq2seq.BeamSearchDecoder(
            wrapped, lambda ids: tf.nn.embedding_lookup(embedding, ids), starts, 2, first, 2, layer,
            length_penalty_weight=0.6, coverage_penalty_weight=0.3)
        found, end, steps = seq2seq.dynamic_decode(decoder, maximum_iterations=6, scope=name)
        history = end.cell_state.alignment_history
        history = history.stack() if hasattr(history, 'stack') else history
        results += [found.predicted_ids, *found.beam_search_decoder_output, steps, end.lengths,
                    end.log_probs, history, end.accumulated_attention_probs]
    return results
"""),
    ("a tree of beams", "from tensorflow.contrib.seq2seq.python.ops import beam_search_ops\n", """
    steps = np.array([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[3, 4, 5]]], np.int32)
    parents = np.array([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[0, 0, 1]]], np.int32)
    both = [np.concatenate([steps, steps[::-1]], 1),
            np.concatenate([parents, parents[:, :, ::-1]], 1)]
    gather = tf.contrib.seq2seq.gather_tree
    return [gather(step_ids=steps, parent_ids=parents, max_sequence_lengths=[n], end_token=e)
            for n in (0, 2, 3, 4, 9) for e in (10, 5)] + [
            beam_search_ops.gather_tree(*both, [3, 4], 6)]
"""),
    ("cells of contrib", "from tensorflow.contrib import rnn\n"
     "from tensorflow.contrib.rnn.python.ops.rnn import stack_bidirectional_dynamic_rnn\n", """
    x, lengths = tf.constant(x4[:, :, :, 0]), tf.constant([6, 2, 0, 5])
    made = [rnn.LayerNormBasicLSTMCell(4), rnn.LayerNormBasicLSTMCell(
                4, 0.5, None, tf.nn.relu, norm_gain=0.7, norm_shift=0.2),
            rnn.LayerNormBasicLSTMCell(4, forget_bias=0.3, layer_norm=False),
            rnn.NASCell(4), rnn.NASCell(4, num_proj=3, use_bias=True)]
    results = []
    for index, cell in enumerate(made):
        # What normalizes makes rounding grow from step to step.
        steps = x[:, :1] if index < 2 else x
        outputs, state = tf.nn.dynamic_rnn(
            cell, steps, dtype=tf.float32, scope='network_%d' % index)
        scale = 0.1 if index < 2 else 1.0
        results += [scale * part for part in (outputs, *state)]
    dropped = rnn.LayerNormBasicLSTMCell(4, dropout_keep_prob=0.5, dropout_prob_seed=3)
    results.append(dropped(x[:, 0], dropped.zero_state(4, tf.float32))[0])
    cells = [rnn.GRUCell(3), rnn.GRUCell(4)], [rnn.GRUCell(3), rnn.GRUCell(4)]
    outputs, forth, back = stack_bidirectional_dynamic_rnn(
        *cells, x, dtype=tf.float32, sequence_length=lengths)
    results += [outputs, *forth, *back]
    outputs, forth, back = rnn.stack_bidirectional_dynamic_rnn(
        [rnn.LSTMCell(2)], [rnn.LSTMCell(2)], tf.transpose(x, [1, 0, 2]), time_major=True,
        initial_states_fw=[rnn.LSTMStateTuple(tf.ones([4, 2]), tf.ones([4, 2]))],
        dtype=tf.float32, scope='once')
    return [*results, outputs, *forth[0], *back[0]]
"""),
    ("cells of convolutions, of time and of blocks", "from tensorflow.contrib import rnn\n"
     "from tensorflow.contrib.rnn.python.ops.rnn_cell import PhasedLSTMCell\n", """
    x, lengths = tf.constant(x4[:, :, :, 0]), tf.constant([6, 2, 0, 5])
    hours = tf.cumsum(tf.exp(0.1 * x[:, :, :1]), axis=1)
    results = []
    for index, cell in enumerate([
            PhasedLSTMCell(4), PhasedLSTMCell(
                4, use_peepholes=True, leak=0.01, ratio_on=0.6, period_init_min=5.0,
                period_init_max=9.0),
            rnn.PhasedLSTMCell(4, trainable_ratio_on=False, ratio_on=0.4)]):
        times = tf.cast(hours, tf.float64) if index == 2 else hours
        outputs, state = tf.nn.dynamic_rnn(
            cell, (times, x), lengths, dtype=tf.float32, scope='phased_%d' % index)
        # Short periods, as these are, make rounding grow.
        results += [0.02 * part for part in (outputs, *state)]
        results.append(tf.constant(float(len(tf.trainable_variables()))))
    for index, cell in enumerate([rnn.GRUBlockCell(4), rnn.GRUBlockCellV2(num_units=3)]):
        outputs, state = tf.nn.dynamic_rnn(
            cell, x, lengths, dtype=tf.float32, scope='blocks_%d' % index)
        results += [outputs, state]
    size = list(x4.shape[1:])
    frames = tf.stack([tf.constant(x4), 0.5 * tf.constant(x4)], 1)
    for index, (cell, values) in enumerate([
            (rnn.Conv2DLSTMCell(input_shape=size, output_channels=3, kernel_shape=[3, 2]), frames),
            (rnn.ConvLSTMCell(2, size, 2, [2, 2], use_bias=False), frames),
            (rnn.Conv1DLSTMCell(input_shape=[size[1], size[2]], output_channels=2,
                                kernel_shape=[2], forget_bias=0.5), frames[:, 0]),
            (rnn.Conv3DLSTMCell(input_shape=[2, *size], output_channels=2,
                                kernel_shape=[1, 2, 3]), frames[:, None])]):
        outputs, state = tf.nn.dynamic_rnn(
            cell, values, dtype=tf.float32, scope='convolved_%d' % index)
        results += [0.2 * part for part in (outputs, *state)]  # sums of many products
    beside = rnn.Conv2DLSTMCell(
        input_shape=size, output_channels=2, kernel_shape=[1, 1], skip_connection=True)
    results.append(beside(tf.constant(x4), beside.zero_state(4, tf.float32))[0])
    return results
"""),
    ("TRAIN attention", _SEQ2SEQ, _ENCODED + """
    words = tf.constant([[1, 2, 3, 4], [5, 6, 0, 0], [2, 1, 3, 0]])
    mechanism = seq2seq.BahdanauAttention(6, encoded, lengths)
    wrapped = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(5), mechanism, 5)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, words), lengths)
    outputs, _, steps = seq2seq.dynamic_decode(seq2seq.BasicDecoder(
        wrapped, helper, wrapped.zero_state(3, tf.float32), layer), impute_finished=True)
    loss = seq2seq.sequence_loss(
        outputs.rnn_output, tf.roll(words, -1, 1), tf.sequence_mask(lengths, dtype=tf.float32))
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    gradients, norm = tf.clip_by_global_norm(
        tf.gradients(loss, tf.trainable_variables()), 0.5)
    train = optimizer.apply_gradients(zip(gradients, tf.trainable_variables()))
    return [train, loss, norm]
"""),
)  # fmt: skip
