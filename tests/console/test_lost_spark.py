"""When Spark dies the console says so, keeps what was typed, and offers to start it again."""

from __future__ import annotations

import threading

from engine.model.errors import UnreachableError
from engine.session.pulse import Pulse
from tests.console.drive import ORDERS, PATIENCE_SECONDS, Clock, Operator, console
from tests.console.fake_backend import FakeBackend
from tests.console.samples import MERGE_SQL


async def lose_spark(operator: Operator, backend: FakeBackend) -> None:
    await operator.warm()
    backend.die()
    operator.app._check_alive()
    await operator.sees("Spark is lost")


async def test_a_driver_that_dies_while_it_plans_costs_nothing_typed(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.write(MERGE_SQL)
        await operator.sees("Spark accepts it")
        backend.die()
        await operator.press("ctrl+r")
        await operator.sees("Spark is lost: F9 starts it again, your text is kept", "[DRIVER_LOST]")
        assert operator.merge.editor.text == MERGE_SQL
        await operator.press("escape")
        await operator.sees("F9 restart Spark")
        await operator.press("f9")
        await operator.misses("Spark is lost")
        await operator.sees("Spark accepts it")
        assert len(backend.called("restart")) == 1


async def test_what_was_asked_of_the_spark_before_says_nothing_of_the_one_that_runs(backend: FakeBackend) -> None:
    asked = threading.Event()

    def fails_late() -> None:
        asked.wait(PATIENCE_SECONDS)
        raise UnreachableError("DRIVER_LOST", "the driver does not answer any more")

    async with console(backend) as operator:
        await operator.warm()
        operator.app.ask("late", fails_late, lambda _: None)
        operator.app._heartbeat((False, False))
        await operator.press("f9")
        await operator.warm()
        asked.set()
        await operator.until(lambda: not operator.app.is_asking("late"))
        assert any("DRIVER_LOST" in line.text for line in operator.app.log_lines)
        assert operator.app.status.spark == "warm"


async def test_what_fails_while_spark_is_started_leaves_it_starting(backend: FakeBackend) -> None:
    def fails() -> None:
        raise UnreachableError("SPARK_UNREACHABLE", "Spark is not up yet.")

    async with console(backend) as operator:
        await operator.warm()
        operator.app._heartbeat((False, False))
        backend.hold("restart")
        await operator.press("f9")
        operator.app.ask("early", fails, lambda _: None)
        await operator.until(lambda: any("SPARK_UNREACHABLE" in line.text for line in operator.app.log_lines))
        await operator.press("f9")
        backend.release("restart")
        await operator.warm()
        assert len(backend.called("restart")) == 1


async def test_a_spark_that_cannot_be_started_says_why_and_history_still_works(backend: FakeBackend) -> None:
    backend.errors["connect"] = UnreachableError("NO_JAVA", "no Java was found", "Install a JDK.")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("Spark is lost", "no Java was found")
        await operator.press("3")
        await operator.sees("applied, kept")
        await operator.press("6")
        await operator.sees("[NO_JAVA] no Java was found", "Install a JDK.")


async def test_a_driver_that_dies_while_it_commits_claims_nothing(backend: FakeBackend) -> None:
    backend.hold("apply")
    async with console(backend) as operator:
        await operator.begin_to_commit(MERGE_SQL)
        backend.die()
        await operator.sees("Spark was lost while it ran.", "History place says whether it committed")


async def test_a_spark_that_comes_up_again_is_not_called_lost(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await lose_spark(operator, backend)
        # another program has started it, and connecting to it takes a while
        backend.replaced = True
        backend.dead = False
        backend.hold("connect")
        operator.app._silent_since = None
        operator.app._check_alive()
        await operator.sees("starting")
        assert "Spark is lost" not in operator.screen
        backend.release("connect")
        await operator.sees("warm · idle")


async def test_a_plan_that_cannot_be_committed_without_spark_offers_no_commit(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.plan(MERGE_SQL)
        assert "c commit" in operator.keys
        await lose_spark(operator, backend)
        await operator.until(lambda: "c why not commit" in operator.keys)
        await operator.press("c")
        await operator.sees("Cannot be committed", "Spark is lost")


async def test_restart_is_offered_only_when_there_is_something_to_restart(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.sees("idle")
        assert "F9" not in operator.keys
        await operator.press("f9")
        assert not backend.called("restart")


async def test_a_driver_that_dies_unnoticed_is_found_by_the_heartbeat(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await lose_spark(operator, backend)


async def test_a_spark_that_answers_again_is_warm_without_a_restart(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await lose_spark(operator, backend)
        backend.dead = False
        operator.app._check_alive()
        await operator.misses("Spark is lost")
        await operator.sees("warm · idle")
        assert not backend.called("restart")


async def test_a_spark_that_hangs_is_looked_at_ever_more_seldom_and_is_as_it_was_when_it_answers(
    backend: FakeBackend,
) -> None:
    async with console(backend) as operator:
        await operator.warm()
        clock, app = operator.app.clock, operator.app
        assert isinstance(clock, Clock)
        clock.stands = True
        backend.die()
        connects = len(backend.called("connect"))
        for _ in range(3 * 60 // 15):
            app._check_alive()
            await operator.until(lambda: not app.is_asking("alive"))
            clock.seconds += 15
        looks = len(backend.called("is_alive"))
        assert looks == 4, "at 0, 15, 45 and 105 s"
        await operator.sees("Spark is lost, no answer for 2 min")
        backend.dead = False
        clock.seconds += 240
        app._check_alive()
        await operator.sees("warm · idle")
        assert "F9" not in operator.keys
        assert len(backend.called("connect")) == connects, "its session is still there"


async def test_a_server_that_another_process_has_started_anew_is_connected_to(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await lose_spark(operator, backend)
        connects = len(backend.called("connect"))
        backend.replaced = True
        backend.is_alive = lambda: False  # type: ignore[method-assign]  # its old session
        backend.dead = False
        operator.app._check_alive()
        await operator.sees("warm · idle")
        assert len(backend.called("connect")) > connects
        assert not backend.called("restart")


def test_a_question_that_hangs_is_asked_once() -> None:
    answer, asked = threading.Event(), []

    def question() -> None:
        asked.append(1)
        answer.wait(30)

    pulse = Pulse(question)
    assert [pulse.beats(0.01) for _ in range(5)] == [False] * 5
    assert len(asked) == 1
    answer.set()
    assert pulse.beats(10)
    assert pulse.beats(10)
    assert len(asked) in (2, 3)

    def refuses() -> None:
        raise ConnectionError

    assert not Pulse(refuses).beats(10)


async def test_f9_starts_spark_again_below_a_dialog(backend: FakeBackend) -> None:
    async with console(backend) as operator:
        await operator.warm()
        await operator.press("f1")
        await operator.sees("Help")
        backend.die()
        operator.app._check_alive()
        await operator.until(lambda: operator.app.status.spark == "lost")
        await operator.press("f9")
        await operator.until(lambda: backend.called("restart"), "a restart")
        await operator.sees("Help")


async def test_a_spark_of_others_is_connected_to_and_neither_started_nor_stopped(backend: FakeBackend) -> None:
    backend.endpoint = "sc://spark.example.org:15002"
    backend.errors["connect"] = UnreachableError("SERVER_DOWN", "nothing listens there")
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("Spark is lost: F9 connects to it again, your text is kept", "opens your draft")
        await operator.misses("Spark is starting")
        del backend.errors["connect"]
        await operator.press("f9")
        await operator.sees("orders_feed")
        await operator.press("5")
        await operator.sees("Spark is warm at")
        assert "stop the server" not in operator.screen
        await operator.press("s")
        assert len(operator.app.screen_stack) == 1


async def test_a_view_of_a_table_that_was_lost_with_spark_is_asked_for_again(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed")
        await operator.press(*ORDERS, "enter")
        await operator.sees("bigint")
        backend.die()
        await operator.press(*["right_square_bracket"] * 4)
        await operator.sees("[DRIVER_LOST]")
        await operator.press("f9")
        await operator.sees("Enter shows the rows as of a version.")


async def test_the_tables_place_says_what_is_so_while_spark_comes_back(backend: FakeBackend) -> None:
    async with console(backend, size=(120, 36)) as operator:
        await operator.sees("orders_feed", "Open a table with enter.")
        backend.die()
        await operator.press("down", "down", "down", "enter")
        await operator.sees("Spark is lost: F9 starts it again.")
        comes, restart = threading.Event(), backend.restart
        backend.restart = lambda say: restart(say) if comes.wait(PATIENCE_SECONDS) else ()  # type: ignore[method-assign]
        await operator.press("f9")
        await operator.sees("Spark is starting;")
        assert "F9 starts it again" not in operator.screen
        comes.set()
        await operator.sees("bigint")


async def test_facts_of_a_session_that_is_not_there_are_not_copied(backend: FakeBackend) -> None:
    backend.hold("connect")
    async with console(backend) as operator:
        operator.app.copy_to_clipboard("what was copied before")
        await operator.press("5")
        await operator.sees("Spark at local[*] is starting.")
        await operator.press("y")
        await operator.sees("There is nothing to copy.")
        backend.release("connect")
        await operator.sees("Spark is warm")
        operator.app.copy_to_clipboard("what was copied before")
        await lose_spark(operator, backend)
        await operator.press("y")
        assert operator.app.clipboard == "what was copied before"
