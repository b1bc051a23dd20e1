"""Why a configuration is kept on its session: one text for findings, ``explain`` and the page."""

from __future__ import annotations

from migrate_mgpu.core.records import record


@record(frozen=True)
class Reason:
    """``title`` completes "a config is kept, because ..."; ``advice`` is what to do."""

    title: str
    why: str
    advice: str


# By the key of the diagnostic.
REASONS = {
    "not-followed": Reason(
        "the tool cannot follow where the config goes",
        "The config is passed to code that is not part of the run, stored in a container, tested "
        "or changed in a way that is not tracked. Another place may read or change it.",
        "create the config next to its session, or pass that code as a path too",
    ),
    "field-without-form": Reason(
        "one of its options has no exact equivalent in `tf.config`",
        "The field has no counterpart in TensorFlow 2, or only for some values, and this value is "
        "another one or is only known at run time. Every field is listed on the page of fields.",
        "remove the option if you do not need it, or write its value as a literal",
    ),
    "sink-without-options": Reason(
        "it is given to something that does not read `tf.config`",
        "`tf.train.Server` and the sessions of an Estimator have the configuration that is passed "
        "to them, or TensorFlow's own for them.",
        "use a plain `tf.Session` or `MonitoredSession` where you can, or leave it: it works",
    ),
    "interactive-session": Reason(
        "an `InteractiveSession` has more options than memory growth",
        "Without a config, `InteractiveSession` does not read `tf.config`: it turns on memory "
        "growth and nothing else. A config that does the same moves; one with other options, or "
        "with options under a condition, stays.",
        "use `with tf.Session(config=...)` instead, whose options move, or leave it: it works",
    ),
    "parameter-in-another-file": Reason(
        "it is passed to a function of another file",
        "The two files are written one after the other; in between, the call would not fit the "
        "function.",
        "create the config in the file that uses it",
    ),
    "filled-in-another-file": Reason(
        "its fields are set in another file",
        "The two files are written one after the other; in between, the config would be missing.",
        "set the fields in the function that creates the config",
    ),
    "eager-soft-placement": Reason(
        "eager execution in TF1 always uses soft placement",
        "`enable_eager_execution(config=...)` ignores `allow_soft_placement=False`.",
        "remove `allow_soft_placement`, or set it to True",
    ),
    "count-of-visible-gpus": Reason(
        "it combines `device_count` with a list of visible GPUs",
        "TensorFlow 1 applies one to the other; `tf.config` has a single list.",
        "list only the GPUs that you want in `visible_device_list`",
    ),
    "growth-or-limit": Reason(
        "memory growth and a memory limit are both set, each under a condition",
        "TensorFlow 2 refuses a GPU that has both, and which one holds is only known at run time.",
        "decide on one of them",
    ),
    "set-after-session": Reason(
        "an option is set after the session was created",
        "TensorFlow 1 ignores it there; in `tf.config` it would take effect, or raise an error.",
        "delete the statement, or move it before the session",
    ),
    "no-place-before-session": Reason(
        "there is no statement before the session where the calls could stand",
        "The session is created inside an expression, such as a lambda or a comprehension.",
        "create the session in a separate statement",
    ),
    "shared-line": Reason(
        "it shares its line with other code",
        "Several statements stand on one line.",
        "put it on a separate line",
    ),
    "initialized-before": Reason(
        "TensorFlow is initialized before the config is created",
        "After the runtime is initialized, `tf.config` raises an error for most options, and the "
        "calls cannot be moved further up.",
        "create the config at the beginning of the program",
    ),
    "environment-after": Reason(
        "`CUDA_VISIBLE_DEVICES` may be set after it",
        "Listing the GPUs reads that variable once.",
        "set the environment variable at the beginning of the program",
    ),
    "another-session": Reason(
        "another session of the process has different options, or none",
        "Options of `tf.config` hold for the whole process. A session without a config has the "
        "defaults of TensorFlow 1. GPU memory and threads are as the process's first session says; "
        "`allow_growth`, and soft placement where nothing names a device, do no harm to others.",
        "give all sessions of the process the same config",
    ),
    "another-stays": Reason(
        "another config of the process is kept",
        "Options of `tf.config` hold for the whole process: all of its configs move, or none.",
        "start with that one",
    ),
    "shared-part": Reason(
        "another config that stays is given the same `GPUOptions`",
        "What both have goes when both move.",
        "give each its own, or see what keeps the other one",
    ),
    "session-serves-more": Reason(
        "its session does more than serve Keras",
        "A native Keras program has no session that could keep on doing it.",
        "run what it does by Keras or by eager code",
    ),
    "conditional-and-repeated": Reason(
        "an option is set under a condition, in code that may run more than once",
        "A config is new each time; an option of `tf.config` stays set for the next session.",
        "set the option unconditionally, or create the config once",
    ),
    "used-on-tf1": Reason(
        "a program that stays on TensorFlow 1 uses it as well",
        "That program has no `tf.config`.",
        "migrate that program too; its own finding says what it needs",
    ),
    "switched-off": Reason(
        "a `# mgpu: ignore` comment switches the rule of one of its options off",
        "A config moves whole or not at all.",
        "remove the comment",
    ),
    "not-selected": Reason(
        "the rule of one of its options is not selected",
        "`--select` or `--ignore`, or the settings in pyproject.toml, leave it out, and a config "
        "moves whole or not at all.",
        "select the rule",
    ),
    "bridge-switched-off": Reason(
        "`--no-bridge` switches bridges off",
        "The program cannot become native, so its options would move only in a bridge: graph code "
        "under `tf.compat.v1`.",
        "run migrate-mgpu without --no-bridge",
    ),
    "bridge-not-selected": Reason(
        "the rule that makes bridges, MGPU201, is not selected",
        "The program cannot become native, so its options would move only in a bridge: graph code "
        "under `tf.compat.v1`.",
        "select MGPU201 (v1-behavior) too",
    ),
    "version-switch": Reason(
        "a version switch of the program already chooses it",
        "The code asks which TensorFlow it runs on.",
        "nothing: it is only used on TensorFlow 1",
    ),
    "unused": Reason(
        "no session uses it",
        "It has no effect.",
        "delete it",
    ),
}


PAGE = "docs/why-kept.md#"


def advice(key: str) -> str:
    """What to do about a config that is kept for this reason."""
    return REASONS[key].advice if key in REASONS else ""


def text(key: str) -> str:
    """One reason, in Markdown."""
    reason = REASONS[key]
    return (
        f"The config is kept because {reason.title}. {reason.why}\n\n"
        f"**What to do:** {reason.advice}.\n"
    )


def page() -> str:
    """All reasons, in Markdown, below a heading each."""
    return "\n".join(f"### {key}\n{text(key)}" for key in sorted(REASONS))
