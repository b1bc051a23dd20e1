"""Generated config programs of TF1: fields, values, spellings, shapes and sinks at random."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

# Field path -> expressions; names in capitals are module constants.
VALUES = {
    "allow_soft_placement": ["True", "False", "SOFT"],
    "log_device_placement": ["True", "False", "not SOFT"],
    "gpu_options.allow_growth": ["True", "False", "SOFT"],
    "gpu_options.per_process_gpu_memory_fraction": ["0.4", "0.0", "1.0", "SHARE", "SHARE / 2"],
    "gpu_options.visible_device_list": [
        "'0'",
        "'0,2'",
        "'2,1'",
        "str(RANK)",
        "'%d' % RANK",
        "''",
        "LISTED",
    ],
    "intra_op_parallelism_threads": ["4", "0", "COUNT", "COUNT * 2"],
    "inter_op_parallelism_threads": ["2", "COUNT"],
    "graph_options.optimizer_options.global_jit_level": [
        "tf.OptimizerOptions.ON_1",
        "tf.OptimizerOptions.OFF",
        "tf.OptimizerOptions.ON_2",
    ],
}
COUNTS = ["{'GPU': 0}", "{'GPU': 2}", "{'CPU': 3}", "{'CPU': 1, 'GPU': COUNT}"]
CONSTANTS = "SOFT = True\nSHARE = 0.3\nRANK = 1\nCOUNT = 2\nLISTED = '0,2'\nFLAG = {flag}\n"


@dataclass(frozen=True)
class Field:
    path: str
    value: str
    how: str  # keyword, attribute, condition
    comment: bool


def _field(path: str) -> st.SearchStrategy[Field]:
    ways = ["attribute", "condition"]
    if not path.startswith("graph_options"):
        ways = ["keyword", "keyword", "attribute", "attribute", "condition"]
    value, way = st.sampled_from(VALUES[path]), st.sampled_from(ways)
    return st.tuples(st.just(path), value, way, st.booleans()).map(lambda drawn: Field(*drawn))


# Made once: Hypothesis checks every strategy that it has not seen, which takes as long as drawing.
_FIELD = {path: _field(path) for path in sorted(VALUES)}
FIELDS = st.lists(
    st.sampled_from(sorted(VALUES)).flatmap(_FIELD.__getitem__),
    max_size=5,
    unique_by=lambda field: field.path,
)


@st.composite
def config(draw: st.DrawFn, name: str) -> list[str]:
    """The statements that make and fill one config."""
    chosen = draw(FIELDS)
    keywords = [f for f in chosen if f.how == "keyword"]
    lines: list[str] = []
    arguments: list[tuple[str, bool]] = []
    inner = [f for f in keywords if f.path.startswith("gpu_options.")]
    for field in keywords:
        if field not in inner:
            arguments.append((f"{field.path}={field.value}", field.comment))
    if inner:
        text = ", ".join(f"{f.path.partition('.')[2]}={f.value}" for f in inner)
        if draw(st.booleans()):
            lines.append(f"{name}_gpu = tf.GPUOptions({text})")
            arguments.append((f"gpu_options={name}_gpu", False))
        else:
            arguments.append((f"gpu_options=tf.GPUOptions({text})", False))
    if draw(st.integers(0, 4)) == 0:
        arguments.append((f"device_count={draw(st.sampled_from(COUNTS))}", False))
    if draw(st.booleans()) or any(comment for _, comment in arguments):
        lines.append(f"{name} = tf.ConfigProto(")
        lines += [f"    {text},{'  # why' if comment else ''}" for text, comment in arguments]
        lines.append(")")
    else:
        lines.append(f"{name} = tf.ConfigProto({', '.join(text for text, _ in arguments)})")
    for field in chosen:
        tail = "  # because" if field.comment else ""
        if field.how == "attribute":
            lines.append(f"{name}.{field.path} = {field.value}{tail}")
        elif field.how == "condition":
            lines += ["if FLAG:", f"    {name}.{field.path} = {field.value}{tail}"]
    return lines


SINKS = {
    "variable": ["sess = tf.Session(config={0})", "sess.run(tf.constant(1))"],
    "with": ["with tf.Session(config={0}) as sess:", "    sess.run(tf.constant(1))"],
    "graph": ["sess = tf.Session(graph=None, config={0})"],
    "position": ["sess = tf.Session('', None, {0})"],
    "twice": ["first = tf.Session(config={0})", "second = tf.Session(config={0})"],
    "beside": ["other = tf.Session()", "sess = tf.Session(config={0})"],
    "loop": ["for step in range(2):", "    sess = tf.Session(config={0})"],
}


def indented(lines: list[str], unit: str) -> list[str]:
    return [unit + line for line in lines]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A whole program as text."""
    unit = draw(st.sampled_from(["    ", "  ", "\t"]))
    shape = draw(st.sampled_from(["module", "main", "helper", "parameter", "class", "branches"]))
    sink = [line.format("config") for line in SINKS[draw(st.sampled_from(sorted(SINKS)))]]
    made = draw(config("config"))
    if shape == "module":
        body = made + sink
    elif shape == "main":
        body = ["def main():", *indented(made + sink, "    "), "", "main()"]
    elif shape == "helper":
        body = ["def make():", *indented([*made, "return config"], "    "), ""]
        body += [
            line.replace("=config)", "=make())").replace(" config)", " make())") for line in sink
        ]
    elif shape == "parameter":
        body = ["def train(steps, config, rate=0.1):", *indented(sink, "    "), ""]
        body += [*made, "train(3, config, rate=0.2)"]
    elif shape == "class":
        body = ["class Trainer(object):", "    def __init__(self):", *indented(made, " " * 8)]
        body += ["        self.config = config", "", "    def train(self):"]
        body += [" " * 8 + line.replace("config)", "self.config)") for line in sink]
        body = [line.replace("=self.config)", "=self.config)") for line in body]
        body += ["", "Trainer().train()"]
    else:
        other = draw(config("config"))
        body = ["if FLAG:", *indented(made, "    "), "else:", *indented(other, "    "), *sink]
    text = "import tensorflow as tf\n\n" + CONSTANTS.format(flag=draw(st.booleans()))
    text += "\n".join(body) + "\n"
    text = "\n".join(_reindent(line, unit) for line in text.split("\n"))
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


def _reindent(line: str, unit: str) -> str:
    bare = line.lstrip(" ")
    depth, rest = divmod(len(line) - len(bare), 4)
    return unit * depth + " " * rest + bare
