"""`migrate-mgpu parity` in this process: the one way for tests to ask."""

from __future__ import annotations

import io
from typing import Any

from migrate_mgpu.parity.command import command


def run(*argv: object, migrate: Any = None, programs: Any = None) -> tuple[int, str, str]:
    """Its status, and what it prints on stdout and stderr."""
    stdout, stderr = io.StringIO(), io.StringIO()
    status = command([str(one) for one in argv], stdout, stderr, migrate, programs)
    return status, stdout.getvalue(), stderr.getvalue()
