"""What graphs are run on: given inputs, files, callables, random ones."""

from __future__ import annotations

import pytest
import torch
from live_programs import in_place, session_of
from mixed_program import mixed, unlifted

from qdqviz.check.inputs import input_sets, read_inputs
from qdqviz.errors import QdqvizError, UsageError


@pytest.fixture
def session(tmp_path):
    return session_of(*mixed(), [in_place(lambda module: None)], tmp_path)


def test_the_example_inputs_are_the_first_set_and_others_are_drawn_to_be_like_them(session):
    first, second, third = input_sets(session.loaded, session.trace.first().root, sets=3)
    assert first.args is session.loaded.inputs
    for drawn in (second, third):
        assert [(each.shape, each.dtype) for each in drawn.args] == [
            (each.shape, each.dtype) for each in first.args
        ]
        assert not torch.equal(drawn.args[0], first.args[0])
        assert drawn.args[0].std() == pytest.approx(float(first.args[0].std()), rel=0.6)
    assert not torch.equal(second.args[0], third.args[0])


def test_what_is_drawn_depends_on_the_seed_only(session):
    body = session.trace.first().root
    torch.manual_seed(0)
    one = input_sets(session.loaded, body, sets=2, seed=4)[1]
    torch.manual_seed(1)
    assert torch.equal(input_sets(session.loaded, body, sets=2, seed=4)[1].args[0], one.args[0])


def test_without_any_inputs_the_placeholders_say_what_to_draw(tmp_path):
    module, inputs = unlifted()
    session = session_of(module, None, [in_place(lambda module: None)], tmp_path)
    (drawn,) = input_sets(session.loaded, session.trace.first().root)
    assert [(each.shape, each.dtype) for each in drawn.args] == [(each.shape, each.dtype) for each in inputs]
    integers = next(each for each in drawn.args if each.dtype is torch.int8)
    assert integers.min() < -64
    assert integers.max() > 64


def test_integers_like_given_ones_stay_in_their_range(session):
    given = (torch.tensor([0, 3, 1]), torch.tensor([True, False]))
    loaded = session.loaded.__class__(**{**session.loaded.__dict__, "inputs": given})
    for drawn in input_sets(loaded, session.trace.first().root, sets=5)[1:]:
        assert 0 <= int(drawn.args[0].min()) <= int(drawn.args[0].max()) <= 3
        assert drawn.args[1].dtype is torch.bool


@pytest.mark.parametrize(
    ("held", "sets"),
    [
        (torch.ones(2), 1),
        ((torch.ones(2), 3), 1),
        ({"x": torch.ones(2)}, 1),
        ([(torch.ones(2),), (torch.zeros(2),)], 2),
        ([torch.ones(2), torch.ones(2)], 1),
    ],
)
def test_a_file_holds_one_set_or_a_list_of_them(held, sets, tmp_path):
    torch.save(held, tmp_path / "i.pt")
    assert len(read_inputs(str(tmp_path / "i.pt"))) == sets


def test_a_callable_in_a_python_file_gives_them_too(tmp_path):
    (tmp_path / "mine.py").write_text("import torch\ndef many():\n    return [(torch.ones(1),)] * 3\n")
    assert [
        each.name.endswith(f"set {n}") for n, each in enumerate(read_inputs(f"{tmp_path}/mine.py:many"), 1)
    ]


@pytest.mark.parametrize("given", ["nothing.pt", "mine.py:gone", "mine.py:wrong", "mine.py:fails", "code.pt"])
def test_inputs_that_cannot_be_read_are_refused_in_one_line(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def wrong():\n    return 3\ndef fails():\n    raise OSError('no')\n")
    import pickle

    (tmp_path / "code.pt").write_bytes(pickle.dumps(print))
    with pytest.raises(QdqvizError) as raised:
        read_inputs(given)
    assert "\n" not in str(raised.value)
    assert isinstance(raised.value, UsageError | QdqvizError)
