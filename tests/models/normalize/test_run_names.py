"""Names that functions give to what they run go where their values are the same."""

from __future__ import annotations

import pytest

from tests.models.front.session.test_graph_objects import TRAINER
from tests.models.front.session.test_writing import native
from tests.support.migration import run, said

RUN = "        return self.session.run([self.model.train_op, self.model.loss], feed_dict)[1]\n"
FEED = "        feed_dict = {self.model.x: data}\n"


@pytest.mark.parametrize(
    "lines",
    [
        "        train_op = self.model.train_op\n        loss = self.model.loss\n"
        "        return self.session.run([train_op, loss], feed_dict)[1]\n",
        "        fetches = [self.model.train_op, self.model.loss]\n"
        "        return self.session.run(fetches, feed_dict)[1]\n",
        "        model = self.model\n"
        "        return self.session.run([model.train_op, model.loss], {model.x: data})[1]\n",
        "        x = self.model.x\n"
        "        return self.session.run([self.model.train_op, self.model.loss], {x: data})[1]\n",
    ],
)
def test_a_name_of_what_is_run_goes(lines: str) -> None:
    after = native(TRAINER.replace(FEED, FEED if "feed_dict)" in lines else "").replace(RUN, lines))
    assert "self.model.train_step(" in after and " = self.model\n" not in after


STAYS = {
    "a name that has another value later": "        loss = self.model.loss\n"
    "        loss = self.session.run([self.model.train_op, loss], feed_dict)[1]\n"
    "        return loss\n",
    "a list that grows": "        fetches = [self.model.train_op]\n"
    "        fetches.append(self.model.loss)\n"
    "        return self.session.run(fetches, feed_dict)[1]\n",
    "a part that goes elsewhere": "        loss = self.model.loss\n"
    "        print(loss)\n"
    "        return self.session.run([self.model.train_op, loss], feed_dict)[1]\n",
    "one of two parts": "        if len(data) > 1:\n            loss = self.model.loss\n"
    "        else:\n            loss = self.model._out\n"
    "        return self.session.run([self.model.train_op, loss], feed_dict)[1]\n",
}


@pytest.mark.parametrize("lines", STAYS.values(), ids=STAYS)
def test_what_is_not_understood_stays(lines: str) -> None:
    result = run(TRAINER.replace(RUN, lines), native_sessions=True, bridge=True)
    assert [one.state for one in result.programs] == ["bridge"], said(result)
    assert any("the session stays" in message for message in said(result))
