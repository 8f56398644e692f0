"""What was asked for before the command: which Spark, which home, which settings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from console.cli.streams import tell
from engine.commit.policy import Policy
from engine.model.checks import Checks

if TYPE_CHECKING:
    from engine.ledger.history import History
    from engine.session.connect import Session


@dataclass(frozen=True)
class Invocation:
    """``target``: a master, or an ``sc://`` address. ``place``: the home as named, which may not exist yet.

    ``store``: the object store that the embedded server is to reach, "" without one; ``server_place``: the folder of
    that server, the home unless the profile or the store has one of its own.
    ``private``: no value of a row is kept in a plan. ``options``: the global options as typed, less tokens, to
    be repeated in the next command that a person is told to type. ``profile``: its name, "" without one. ``fault``: why
    the rules of this machine's Spark are not known; nothing runs on it then.
    """

    target: str
    place: Path
    confs: Mapping[str, str] = field(default_factory=dict)
    private: bool = False
    policy: Policy = field(default_factory=Policy)
    options: tuple[str, ...] = ()
    profile: str = ""
    production: bool = False
    checks: Checks = field(default_factory=Checks)
    store: str = ""
    server_place: Path = field(default_factory=Path)
    fault: Exception | None = None

    @property
    def is_remote(self) -> bool:
        return self.target.startswith("sc://")

    @property
    def home(self) -> Path:
        """The home, made if need be. Raises EngineError where it cannot be written."""
        from engine.session.home import prepare_home

        return prepare_home(self.place)

    @property
    def server_home(self) -> Path:
        """The folder of the embedded server, made if need be. Raises EngineError where it cannot be written."""
        from engine.session.home import prepare_home

        home = self.home
        if self.server_place != home:
            self.server_place.parent.mkdir(mode=0o700, exist_ok=True)
        return prepare_home(self.server_place)

    def connect(
        self, say: Callable[[str], None], *, session_id: str | None = None, user_id: str | None = None
    ) -> Session:
        """A session of one's own, or the one named if it is there still. What a program that is gone left behind is
        settled first."""
        from engine.session.connect import connect

        self.check_rules()
        session = connect(
            self.target,
            home=self.server_home,
            confs=self.confs,
            store=self.store,
            progress=say,
            session_id=session_id,
            user_id=user_id,
        )
        try:
            self._recover(session, say)
        except BaseException:
            session.close(keep=session.resumed)
            raise
        return session

    def check_rules(self) -> None:
        """Raise what is wrong with the rules."""
        # of a home that cannot be used that is told
        if self.fault is not None and self.home:
            raise self.fault

    def _recover(self, session: Session, say: Callable[[str], None]) -> None:
        from engine.model.errors import EngineError
        from engine.model.secrets import redact
        from engine.recovery.recover import recover, sentence

        try:
            for one in recover(session, self.history(), say):
                # as all that is told of this session: between events a line of its own is none
                say(redact(sentence(one)))
        except EngineError as error:
            # what was asked for may need no ledger, and what does will say the same
            say(f"the history was not looked at: {error}")

    def history(self, wait_seconds: float = 10.0) -> History:
        """The ledger of this home. What it has to say about itself goes to stderr."""
        from engine.ledger.history import History
        from engine.session.home import ledger_path

        return History(ledger_path(self.home), wait_seconds=wait_seconds, on_notice=_notice, private=self.private)

    def command(self, *words: str) -> str:
        """A command line to type next, on the same Spark and home."""
        return shlex.join(("deltamerge-console", *self.options, *words))

    def to_stop(self, profile: str = "", store: str = "") -> str:
        """The command line that stops the embedded server of this home, or that of a profile or a store in it."""
        home = dict(zip(self.options[::2], self.options[1::2], strict=True)).get("--home")
        named = {"--profile": profile, "--store": store, "--home": home}
        options = tuple(word for name, value in named.items() if value for word in (name, value))
        return replace(self, options=options).command("server", "stop")


def _notice(sentence: str) -> None:
    """Tell it as the command tells all else: as an event under --events."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("events"):
        tell(sentence)
        return
    from console.cli.narrator import EventNarrator

    EventNarrator().say(sentence)


with_invocation = click.make_pass_decorator(Invocation)
