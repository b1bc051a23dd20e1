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
