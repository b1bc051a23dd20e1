"""``migrate-mgpu checkpoint``: what TF1 saved becomes what the migrated program goes on from."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from migrate_mgpu import INSTALL
from migrate_mgpu.core.parser import Parser
from migrate_mgpu.runtimes import add_packages, split

_WEIGHTS = (".h5", ".hdf5")  # files that Keras writes
WRITTEN, REFUSED, USAGE, FAILED = 0, 1, 2, 8

_EPILOG = """\
examples:
  migrate-mgpu checkpoint old.py new.py --from model_dir --to new_dir
  migrate-mgpu checkpoint old.py new.py --from model_dir/model.ckpt-2000 --to new_dir
  migrate-mgpu checkpoint old.py new.py --from model_dir --to new_dir --weights-only
  migrate-mgpu checkpoint old.py new.py --from model_dir --to new_dir -- --batch_size 32
  migrate-mgpu checkpoint old.py new.py --from new_dir --to old_dir --to-tf1
  migrate-mgpu checkpoint old.py new.py --from copies.h5 --to new.weights.h5

A checkpoint of Keras 2 does not load into Keras 3: it is for the TensorFlow that --target names.

exit status: 0 written, 1 refused (something has no partner), 2 wrong usage, 8 a program failed"""


def parser() -> argparse.ArgumentParser:
    """The parser of ``migrate-mgpu checkpoint``."""
    made = Parser(
        prog="migrate-mgpu checkpoint",
        usage="migrate-mgpu checkpoint BEFORE.py AFTER.py --from MODEL_DIR --to NEW_DIR [options] "
        "[-- ARGS]",
        description="Convert a checkpoint of the TF1 program into one that the migrated program "
        "goes on from: weights, what optimizers keep, moving averages and the step. Which is "
        "whose partner is printed, and written beside the new checkpoint.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("before", type=Path, metavar="BEFORE.py", help="the TF1 program")
    made.add_argument("after", type=Path, metavar="AFTER.py", help="the migrated one")
    made.add_argument(
        "--from",
        dest="source",
        type=Path,
        required=True,
        metavar="MODEL_DIR",
        help="TF1's folder (the new one's with --to-tf1), whose latest checkpoint is taken, a "
        "checkpoint in it, or a .h5 file that Keras wrote",
    )
    made.add_argument(
        "--to",
        type=Path,
        required=True,
        metavar="NEW_DIR",
        help="a new folder, or an empty one; of a .h5 file the new file",
    )
    made.add_argument(
        "--weights-only",
        action="store_true",
        help="leave out what optimizers keep, and the step: the new program begins at step 0",
    )
    made.add_argument(
        "--to-tf1",
        action="store_true",
        help="the other way round: a checkpoint of the migrated program's becomes one that the "
        "TF1 program goes on from; both are run",
    )
    made.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="NEW=OLD",
        help="a variable of the new program and its tensor, where names do not tell (may be "
        "repeated)",
    )
    made.add_argument(
        "--skip",
        action="append",
        default=[],
        metavar="PATTERN",
        help="leave out tensors of the checkpoint that the new program does without (may be "
        "repeated)",
    )
    made.add_argument(
        "--model-dir",
        metavar="FOLDER",
        help="the folder of the new program's, as it names it, if it has several models",
    )
    made.add_argument("--target", help="runtime of the new program (tf2.15)")
    made.add_argument(
        "--reference", help="of the old one, which is seldom run but with --to-tf1 (tf1.15)"
    )
    made.add_argument(
        "--devices", type=int, default=1, metavar="N", help="GPUs that the programs find (1)"
    )
    made.add_argument(
        "--root", type=Path, metavar="FOLDER", help="the folder that is copied to run a program in"
    )
    made.add_argument(
        "--timeout", type=float, default=600.0, metavar="SECONDS", help="for each run (600)"
    )
    add_packages(made)
    return made


def command(argv: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run the subcommand; returns the exit status."""
    own, program_argv = list(argv), []
    if "--" in own:
        at = own.index("--")
        own, program_argv = own[:at], own[at + 1 :]
    try:
        # argparse writes to the process's own streams: they are these, or a test's.
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            options = parser().parse_args(own)
    except SystemExit as exit_:
        return USAGE if exit_.code else WRITTEN
    wrong = _wrong(options)
    if wrong:
        print(wrong, file=stderr)
        return USAGE
    if importlib.util.find_spec("numpy") is None:
        print(f"numpy is needed; {INSTALL}", file=stderr)
        return FAILED
    return _convert(options, program_argv, stdout, stderr)


def _wrong(options: argparse.Namespace) -> str:
    """What is wrong with the options, before anything runs."""
    for program in (options.before, options.after):
        if not program.is_file():
            return f"{program}: no such program"
    if not options.source.exists() and not options.source.parent.is_dir():
        return f"--from {options.source}: there is no such folder"
    if options.source.suffix in _WEIGHTS:
        if not options.source.is_file():
            return f"--from {options.source}: no such file"
        if options.to.suffix not in _WEIGHTS or not options.to.parent.is_dir():
            return f"--to {options.to}: Keras's weights go into a file, called .h5 or .weights.h5"
        if options.to.exists():
            return f"--to {options.to}: it is there already"
        if options.to_tf1:
            return "--to-tf1 is for checkpoints: TF1's Keras reads what Keras 2 saves in a .h5 file"
    elif options.to.exists() and (not options.to.is_dir() or any(options.to.iterdir())):
        return f"--to {options.to}: there is something already; give a new folder, or an empty one"
    for text in options.pair:
        if not all(text.partition("=")[::2]):
            return f"--pair {text}: give NEW=OLD"
    if options.devices < 1:
        return "--devices: at least one"
    return ""


def _convert(
    options: argparse.Namespace, argv: Sequence[str], stdout: TextIO, stderr: TextIO
) -> int:
    from migrate_mgpu.parity import conversion
    from migrate_mgpu.parity.pair import Pair
    from migrate_mgpu.parity.runs.programs import Options
    from migrate_mgpu.parity.runs.supervise import Limits

    pair = Pair(
        options.before,
        options.after,
        (options.devices,),
        options.root,
        Options(tuple(argv), limits=Limits(seconds=options.timeout)),
        reference=options.reference,
        target=options.target,
        packages=tuple(split(options.packages)),
        requirements=options.requirements,
    )
    try:
        source = conversion.find(options.source)
        request = conversion.Request(
            pair,
            source,
            options.weights_only,
            dict(text.partition("=")[::2] for text in options.pair),
            options.skip,
            options.model_dir,
            options.to_tf1,
            options.source.suffix in _WEIGHTS,
        )
        result = conversion.convert(request, options.to, stderr)
    except conversion.NoCheckpoint as error:
        print(f"--from {error}", file=stderr)
        return USAGE
    except conversion.NotConverted as error:
        print(error, file=stderr)
        return FAILED
    if result.state == "refused":
        print(f"{source} is not converted", file=stderr)
        stderr.write(conversion.refusal(result))
        return REFUSED
    stdout.write(conversion.table(result))
    print(f"{options.to}: written for {result.runtime}", file=stdout)
    return WRITTEN
