"""Writes docs/why-kept.md: why a config is kept on its session.

python docs/generate_kept.py
"""

from __future__ import annotations

from pathlib import Path

from migrate_mgpu.output import kept

HEAD = """\
# Why is my config kept?

<!-- Written by docs/generate_kept.py from migrate_mgpu/output/kept.py. -->

A finding MGPU901 says that a `ConfigProto` is *kept*: the program is migrated and runs on
TensorFlow 2, and this config stays on its session, where it works as before. Options of
`tf.config` hold for the whole process and must be set before TensorFlow is initialized, so a config
moves only when that is exactly the same. It moves whole or not at all.

You need to do nothing for the program to run. To get rid of the config, follow the advice of its
reason, and run migrate-mgpu again. JSON output links each finding to its reason here.

## Reasons

"""


def page() -> str:
    return HEAD + kept.page()


if __name__ == "__main__":
    Path(__file__).with_name("why-kept.md").write_text(page(), encoding="utf-8")
