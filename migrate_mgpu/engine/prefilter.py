"""One search over a file's bytes: most files of a repository end here.

Nothing but ``re`` is imported, so that a run over files without TF1 code costs
little more than Python's own start.
"""

from __future__ import annotations

import re

# A file without any of these has no site, whatever else it holds.
HIT = re.compile(
    rb"ConfigProto|GPUOptions|Session\b|session_config|enable_eager_execution|[Ee]stimator\b"
)
# The modules and names of imports; a list in parentheses may go over several lines.
IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^)]*)|([^#\r\n]*))"
    rb"|import[ \t]+([^#\r\n]+))",
    re.M,
)


def names_framework(data: bytes) -> bool:
    """Whether a file may belong to a program by itself."""
    return b"tensorflow" in data or b"keras" in data
