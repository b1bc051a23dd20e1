"""What was seen once on real TensorFlow runs no more while all that it depends on is the same."""

from __future__ import annotations

import hashlib

from migrate_mgpu import runtimes


def digest(runtime: str, *texts: str) -> str:
    """Of texts, and of the TensorFlow that they run with."""
    made = hashlib.sha256()
    for text in (*runtimes.known()[runtime].requirements, *texts):
        made.update(f"{len(text)}\n{text}".encode())
    return made.hexdigest()[:16]
