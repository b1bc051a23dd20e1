"""TF1's ``Saver``: its parameters, and the class that does in TF2 what it did."""

from __future__ import annotations

from migrate_mgpu.api.schema import Definition

PARAMETERS = (
    "var_list", "reshape", "sharded", "max_to_keep", "keep_checkpoint_every_n_hours", "name",
    "restore_sequentially", "saver_def", "builder", "defer_build", "allow_empty",
    "write_version", "pad_step_number", "save_relative_paths", "filename",
)  # fmt: skip
SAVE = (
    "sess", "save_path", "global_step", "latest_filename", "meta_graph_suffix",
    "write_meta_graph", "write_state", "strip_default_attrs", "save_debug_info",
)  # fmt: skip
RESTORE = ("sess", "save_path")
RECOVER = "recover_last_checkpoints"

# `tf.train.CheckpointManager` has numbers of its own, deletes files of earlier runs, and
# `tf.train.Checkpoint` keeps a learning rate that a program says anew.
SAVER = Definition(
    "Saver",
    '''\
class {name}:
    """Saves variables by their names, in the files of TF1's Saver, and restores them."""

    def __init__(self, variables, max_to_keep=5):
        self.variables = variables
        self.max_to_keep = max_to_keep
        self.paths = []

    def save(self, path, global_step=None):
        if global_step is not None:
            path = f{quote}{{path}}-{{int(global_step)}}{quote}
        {tf}.raw_ops.SaveV2(
            prefix=path,
            tensor_names=list(self.variables),
            shape_and_slices=[{quote}{quote}] * len(self.variables),
            tensors=[{tf}.convert_to_tensor(value) for value in self.variables.values()],
        )
        self.paths = [other for other in self.paths if other != path] + [path]
        if not self.max_to_keep:
            self.paths = [path]
        elif len(self.paths) > self.max_to_keep:
            old = self.paths.pop(0)
            for pattern in (old + {quote}.index{quote}, old + {quote}.data-*{quote}):
                for file in {tf}.io.gfile.glob(pattern):
                    {tf}.io.gfile.remove(file)
        folder = os.path.dirname(path)
        kept = [os.path.relpath(other, folder or {quote}.{quote}) for other in self.paths]
        state = os.path.join(folder, {quote}checkpoint{quote})
        with {tf}.io.gfile.GFile(state, {quote}w{quote}) as file:
            file.write(f'model_checkpoint_path: "{{kept[-1]}}"\\n')
            for other in kept:
                file.write(f'all_model_checkpoint_paths: "{{other}}"\\n')
        return path

    def restore(self, path):
        values = {tf}.raw_ops.RestoreV2(
            prefix=path,
            tensor_names=list(self.variables),
            shape_and_slices=[{quote}{quote}] * len(self.variables),
            dtypes=[variable.dtype for variable in self.variables.values()],
        )
        for variable, value in zip(self.variables.values(), values):
            variable.assign(value)''',
)
# The same, for programs that go on where an earlier one has saved.
RECOVERING_SAVER = Definition(
    SAVER.name,
    SAVER.text
    + """

    def recover_last_checkpoints(self, paths):
        self.paths = [one for one in paths if {tf}.io.gfile.exists(one + {quote}.index{quote})]""",
)
# The same, for programs whose graph another one reads: a function alone is no graph of TF1's.
GRAPH_SAVER = Definition(
    SAVER.name,
    SAVER.text.replace(
        """and restores them.\"\"\"
""",
        """and restores them.

    Beside them it writes the graph of a step, with TF1's names of what comes in and out.
    \"\"\"
""",
    )
    .replace("max_to_keep=5):\n", "max_to_keep=5, graph=None):\n        self.graph = graph\n")
    .replace(
        "        self.paths = [other for",
        """\
        if self.graph is not None:
            self.write_graph(path + {quote}.meta{quote}, *self.graph)
        self.paths = [other for""",
    )
    .replace(
        "(old + {quote}.index{quote}, old +",
        "(old + {quote}.index{quote}, old + {quote}.meta{quote}, old +",
    )
    + """

    def write_graph(self, path, step, inputs, outputs):
        step = step.get_concrete_function()
        handles = [getattr(value, {quote}handle{quote}, None) for value in self.variables.values()]
        names = {{id(handle): name for handle, name in zip(handles, self.variables)}}
        v1 = {tf}.compat.v1
        with {tf}.Graph().as_default():
            given = [v1.placeholder(one.dtype, one.shape, name)
                     for one, name in zip(step.inputs, inputs)]
            restored = []
            for value in step.captured_inputs:
                if value.dtype != {tf}.resource:
                    given.append({tf}.constant(value.numpy()))
                    continue
                name = names[id(value)]
                one = self.variables[name]
                restored.append(v1.get_variable(name, one.shape, one.dtype, use_resource=True))
                given.append(restored[-1].handle)
            taken = dict(zip([one.name for one in step.inputs], given))
            values = {tf}.graph_util.import_graph_def(
                step.graph.as_graph_def(), taken, [one.name for one in step.outputs])
            for value, name in zip(values, outputs):
                {tf}.identity(value, name)
            saver = v1.train.Saver(restored).as_saver_def()
            v1.train.export_meta_graph(path, saver_def=saver)""",
)
BETA_POWER = Definition(
    "BetaPower",
    '''\
class {name}:
    """Adam's count of steps as TF1 saved it: `beta ** (steps + 1)`."""

    dtype = {tf}.float32

    def __init__(self, optimizer, beta):
        self.optimizer = optimizer
        self.beta = beta

    def __tf_tensor__(self, dtype=None, name=None):
        steps = {tf}.cast(self.optimizer.iterations, {tf}.float32)
        return {tf}.pow({tf}.constant(self.beta), steps + 1)

    def assign(self, value):
        steps = math.log(max(float(value), 1e-45)) / math.log(self.beta) - 1
        self.optimizer.iterations.assign(int(round(steps)))''',
)
