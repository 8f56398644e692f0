"""Four drivers race for the same versions of one log over a real S3 store that loses requests and answers."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.session.home import jars_directory
from engine.session.jars import package_jars
from engine.session.java import find_java, spark_home
from engine.session.stores import LOG_STORE, LOG_STORE_JAR, store_named
from tests.lakehouse.build_log_store import built_against, compiled
from tests.lakehouse.conftest import keys_of
from tests.lakehouse.faults import FAULTS, NO_FAULTS, FaultyProxy, faulty
from tests.lakehouse.s3 import Store

DRIVERS = 4
DUEL = Path(__file__).with_name("java") / "Duel.java"
SINGLE_DRIVER = "io.delta.storage.S3SingleDriverLogStore"
MULTIPART = 6 << 20
"""Bytes of a commit that S3A sends in several parts, with the settings below."""
SETTINGS = {
    # Few tries of S3A's own, so that errors reach the log store.
    "fs.s3a.attempts.maximum": "1",
    "fs.s3a.retry.limit": "1",
    "fs.s3a.retry.interval": "20ms",
    "fs.s3a.multipart.size": "5M",
    "fs.s3a.multipart.threshold": "5M",
    "fs.s3a.aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
}


class Answer(NamedTuple):
    word: str
    """``committed`` or ``failed``."""
    version: int
    reason: str


class Driver:
    """A JVM of its own with the log store."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def start(self, bucket: str, version: int, token: str, length: int = 1) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"s3a://{bucket}/t/_delta_log {version} {token} {length}\n")
        self._process.stdin.flush()

    def answer(self) -> Answer:
        assert self._process.stdout is not None
        for line in self._process.stdout:  # others log there
            word, _, rest = line.rstrip("\n").partition(" ")
            if word in ("committed", "failed"):
                version, _, reason = rest.partition(" ")
                return Answer(word, int(version), reason)
        raise AssertionError("a driver has ended")

    def commit(self, bucket: str, version: int, token: str, length: int = 1) -> Answer:
        self.start(bucket, version, token, length)
        return self.answer()

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@dataclass(frozen=True)
class Field:
    """Drivers that reach the store by the proxy."""

    store: Store
    proxy: FaultyProxy
    drivers: list[Driver]

    def bucket(self, name: str) -> str:
        assert self.store.request("PUT", f"/{name}")[0] == 200
        return name

    def keys(self, bucket: str) -> str:
        return self.store.request("GET", f"/{bucket}", query={"list-type": "2"})[1].decode()

    def log(self, bucket: str) -> list[str]:
        """The token of each entry, in the order of versions."""
        tokens: list[str] = []
        while True:
            status, entry = self.store.request("GET", f"/{bucket}/t/_delta_log/{len(tokens):020}.json")
            if status != 200:
                assert status == 404
                return tokens
            tokens.append(json.loads(entry.splitlines()[0])["commitInfo"]["txnId"])

    def race(self, bucket: str, rounds: int) -> dict[str, Answer]:
        """What each token came to. In each round all drivers start at the same version at once."""
        version, answers = 0, dict[str, Answer]()
        for turn in range(rounds):
            tokens = [f"round-{turn}-driver-{number}" for number in range(len(self.drivers))]
            for driver, token in zip(self.drivers, tokens, strict=True):
                driver.start(bucket, version, token)
            answers |= {token: driver.answer() for driver, token in zip(self.drivers, tokens, strict=True)}
            version = max(version, *(one.version + 1 for one in answers.values() if one.word == "committed"))
        return answers


@pytest.fixture(scope="module")
def class_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("duel")
    needs = built_against(folder / "jars.log")
    compiled([DUEL], needs, folder)
    packages = store_named("s3", {}).packages
    aws = package_jars(find_java(), jars_directory(), packages, {}, log=folder / "jars.log")
    return os.pathsep.join([str(folder), *map(str, (LOG_STORE_JAR, *needs, *aws)), str(spark_home() / "jars" / "*")])


@contextmanager
def running(class_path: str, store: Store, log_store: str) -> Iterator[Field]:
    with faulty(store, seed=1) as proxy:
        named = store_named("s3", {**keys_of(store), "AWS_ENDPOINT_URL_S3": proxy.endpoint})
        confs = {key.removeprefix("spark.hadoop."): value for key, value in named.confs.items()}
        confs |= {**SETTINGS, "fs.s3a.access.key": store.key, "fs.s3a.secret.key": store.secret}
        java = [str(find_java().path), "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", class_path]
        command = [*java, "Duel", log_store, *(f"{key}={value}" for key, value in confs.items())]
        drivers = [Driver(command) for _ in range(DRIVERS)]
        try:
            yield Field(store, proxy, drivers)
        finally:
            for driver in drivers:
                driver.stop()


@pytest.fixture(scope="module")
def field(class_path: str, store: Store) -> Iterator[Field]:
    with running(class_path, store, LOG_STORE) as field:
        yield field


@pytest.fixture(autouse=True)
def _no_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "field" in request.fixturenames:
        proxy = request.getfixturevalue("field").proxy
        proxy.faults, proxy.honours = NO_FAULTS, True


@pytest.mark.parametrize("rounds", [3, pytest.param(500, marks=pytest.mark.thorough)])
def test_every_reported_commit_is_in_the_log_once(field: Field, rounds: int) -> None:
    bucket = field.bucket(f"race-{rounds}")
    field.proxy.faults = FAULTS
    before = len(field.proxy.requests)
    answers = field.race(bucket, rounds)
    committed = {token: one.version for token, one in answers.items() if one.word == "committed"}
    print(f"\n{rounds} rounds: {Counter(one.word for one in answers.values())}, {field.proxy.met}")
    log = field.log(bucket)
    assert len(set(log)) == len(log)
    assert set(log) <= set(answers)
    assert committed
    assert {token: log[version] for token, version in committed.items()} == {token: token for token in committed}
    conditional = {
        conditional
        for method, path, conditional in field.proxy.requests[before:]
        if (method, "/t/_delta_log/" in path) == ("PUT", True)
    }
    assert conditional == {True}
    assert field.proxy.met["answer lost"]
    assert field.proxy.met["500 after"]


def test_an_error_is_read_back_before_it_is_judged(field: Field) -> None:
    bucket, driver, other = field.bucket("read-back"), field.drivers[0], field.drivers[1]
    assert driver.commit(bucket, 0, "zero") == ("committed", 0, "")
    assert "deltamerge-probe" not in field.keys(bucket)
    assert other.commit(bucket, 0, "one") == ("committed", 1, "")
    # Its answer is lost each time, S3A asks again, and is told that the file is there: it is its own.
    field.proxy.faults = {"PUT answer lost": 1}
    assert driver.commit(bucket, 1, "two") == ("committed", 2, "")
    assert other.commit(bucket, 0, "three") == ("committed", 3, "")
    # Nothing came to the store: an error, no commit and no conflict.
    field.proxy.faults = {"PUT request lost": 1}
    failed = driver.commit(bucket, 4, "four")
    assert (failed.word, failed.version) == ("failed", 4)
    assert "may be there" not in failed.reason
    # It is there, and nobody could know: the error says so.
    field.proxy.faults = {"answer lost": 1}
    unknown = driver.commit(bucket, 4, "five")
    assert (unknown.word, unknown.version) == ("failed", 4)
    assert "the commit may be there" in unknown.reason
    field.proxy.faults = NO_FAULTS
    assert driver.commit(bucket, 4, "six") == ("committed", 5, "")
    assert field.log(bucket) == ["zero", "one", "two", "three", "five", "six"]


def test_a_commit_of_several_parts_is_conditional_too(field: Field) -> None:
    bucket = field.bucket("parts")
    assert field.drivers[0].commit(bucket, 0, "zero", MULTIPART) == ("committed", 0, "")
    assert field.drivers[1].commit(bucket, 0, "one", MULTIPART) == ("committed", 1, "")
    assert any("uploads" in path for _, path, _ in field.proxy.requests)
    assert field.log(bucket) == ["zero", "one"]


def test_a_store_that_does_not_know_the_condition_is_refused(field: Field) -> None:
    bucket, driver = field.bucket("unconditional"), field.drivers[0]
    field.proxy.honours = False
    refused = driver.commit(bucket, 0, "zero")
    assert refused.word == "failed"
    assert "does not honour If-None-Match" in refused.reason
    # neither a commit nor what it was tried with; S3A may leave a marker of the folder
    assert not re.search(r"\.json|deltamerge-probe", field.keys(bucket))
    field.proxy.honours = True
    assert driver.commit(bucket, 0, "one") == ("committed", 0, "")


@pytest.mark.thorough
def test_the_log_store_of_one_driver_loses_commits_of_several(class_path: str, store: Store) -> None:
    """What the race above would show if it were not for the log store."""
    with running(class_path, store, SINGLE_DRIVER) as field:
        bucket = field.bucket("single")
        answers = field.race(bucket, 20)
        committed = {token for token, one in answers.items() if one.word == "committed"}
        assert committed - set(field.log(bucket))
