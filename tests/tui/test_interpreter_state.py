import gc
import sys
import threading

import pytest
from driving import make_app, press, running, settle, until

from qdqviz.tui.app import QdqvizApp, run_app
from qdqviz.tui.model.sparing import Sparing


def state():
    """What the app may change of the process, and must give back."""
    return gc.get_freeze_count(), gc.get_threshold(), gc.isenabled(), sys.getswitchinterval()


@pytest.fixture(autouse=True)
def as_it_was():
    """Other tests of this process are not to suffer from what is tried here."""
    before = state()
    yield
    gc.unfreeze()
    (gc.enable if before[2] else gc.disable)()


async def test_after_the_app_nothing_is_frozen_any_more(small_path):
    before = state()
    async with running(small_path) as pilot:
        await press(pilot, "right", "right")
        assert gc.get_freeze_count() > 0
    assert state() == before and before[0] == 0


async def test_objects_made_while_the_app_ran_are_seen_by_the_collector_afterwards(small_path):
    class Marked:
        pass

    marked = Marked()
    async with running(small_path):
        gc.collect()
    assert any(each is marked for each in gc.get_objects())


async def test_a_crash_of_the_app_gives_everything_back(small_path):
    before = state()
    app = make_app(small_path)
    with pytest.raises(ZeroDivisionError):
        async with app.run_test(size=(120, 40)) as pilot:
            await settle(pilot)
            assert gc.get_freeze_count() > 0
            app.call_later(lambda: 1 / 0)
            await until(pilot, lambda: app._exception is not None)
    assert state() == before


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_however_the_app_ends_the_process_is_as_it_was(small_path, monkeypatch, error):
    before, inside = state(), []

    def run(app):
        app.sparing.spare()
        inside.append(state())
        raise error

    monkeypatch.setattr(QdqvizApp, "run", run)
    with pytest.raises(error):
        run_app(small_path)
    assert state() == before and all(inside[0][i] != before[i] for i in (0, 1, 3))


async def test_where_others_have_frozen_objects_the_app_leaves_it_at_that(small_path):
    gc.collect()
    gc.freeze()
    frozen = gc.get_freeze_count()
    async with running(small_path) as pilot:
        await press(pilot, "right")
        assert 0 < gc.get_freeze_count() <= frozen  # some of those objects may have died since
    assert 0 < gc.get_freeze_count() <= frozen


async def test_a_collector_that_was_off_stays_off(small_path):
    gc.disable()
    async with running(small_path) as pilot:
        await press(pilot, "right")
    assert not gc.isenabled()


def test_a_worker_that_reads_on_after_the_end_changes_nothing():
    before, sparing = state(), Sparing()
    inside, leave = threading.Event(), threading.Event()

    def read():
        with sparing.paused():
            inside.set()
            leave.wait(10)
        sparing.spare()
        with sparing.paused():
            sparing.spare()

    worker = threading.Thread(target=read)
    worker.start()
    assert inside.wait(10) and not gc.isenabled()
    sparing.end()
    assert state() == before
    leave.set()
    worker.join(10)
    sparing.end()
    assert state() == before


def test_pauses_of_two_workers_end_with_the_last():
    sparing = Sparing()
    with sparing.paused():
        with sparing.paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
