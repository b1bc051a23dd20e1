"""What tests of the models' parts share."""

from __future__ import annotations

import pytest

from migrate_mgpu.models.normalize.functions import builders_in_place


@pytest.fixture
def builders_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are not written where they are called, and what else is read of them is seen."""
    monkeypatch.setattr(builders_in_place, "normalize", lambda *given: {})
