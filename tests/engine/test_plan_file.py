"""The plan file: lossless both ways, and strict when it is read."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.create_values import CreatePlan
from engine.errors import EngineError
from engine.plan_file import (
    CREATE_SCHEMA_FILE,
    SCHEMA_FILE,
    plan_schema,
    read_plan,
    read_plan_file,
    schema_text,
    write_plan,
)
from engine.values import Estimate, Plan, Value
from tests.engine.plans import make_create_plan, make_plan


def changed(**changes: Any) -> str:
    document = json.loads(make_plan().to_json())
    document.update(changes)
    return json.dumps(document)


def any_value(kind: type[Value]) -> st.SearchStrategy[Any]:
    """Any value of ``kind``, every key given (hypothesis cannot see pydantic's default factories)."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{key: st.from_type(hints[key]) for key in kind.model_fields})


for subclass in Value.__subclasses__():
    st.register_type_strategy(subclass, any_value)


@given(st.from_type(Plan))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_plan_comes_back_as_it_was(plan: Plan) -> None:
    text = plan.to_json()
    again = Plan.from_json(text)
    assert again == plan
    assert again.to_json() == text


@given(st.from_type(CreatePlan))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_plan_of_a_create_comes_back_as_it_was(plan: CreatePlan) -> None:
    assert Plan.from_json(plan.to_json()) == plan


def test_the_kind_says_which_plan_a_file_holds() -> None:
    assert isinstance(read_plan(make_create_plan().to_json()), CreatePlan)
    assert isinstance(read_plan(make_plan().to_json()), Plan)
    with pytest.raises(EngineError, match="not valid"):
        read_plan(changed(kind="create_table"))


def test_the_plan_of_the_tests_comes_back_as_it_was() -> None:
    plan = make_plan(estimates={"numTargetFilesAdded": Estimate(low=1, high=3), "numTargetBytesAdded": 2**62})
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("cut", [0, 1, 20, 500, -2, -30])
def test_a_file_cut_short(cut: int) -> None:
    text = make_plan().to_json()
    with pytest.raises(EngineError, match="damaged or was cut short") as caught:
        read_plan(text[:cut])
    assert caught.value.condition == "PLAN_FILE_DAMAGED"
    assert "plan FILE.sql -o" in caught.value.hint


@pytest.mark.parametrize("text", ["[" * 100_000, "{'a': 1}", "MERGE INTO t", '{"plan_id": NaN}', "\x00", "\ufeff{}"])
def test_text_that_is_no_json(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "PLAN_FILE_DAMAGED"


@pytest.mark.parametrize(
    "text", ["[]", "null", '"plan"', "{}", '{"format_version": 1}', '{"name": "x", "version": "1"}']
)
def test_json_that_is_no_plan(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "NOT_A_PLAN"


def test_a_newer_format_is_refused_politely_whatever_else_it_holds() -> None:
    with pytest.raises(EngineError, match="format 2; this program reads format 1") as caught:
        read_plan('{"format_version": 2, "plan_id": {"new": "shape"}}')
    assert caught.value.condition == "PLAN_FILE_NEWER"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (changed(surprise=1), "the key surprise is unknown"),
        (changed(target={"name": "t"}), "the key target.path is missing"),
        (changed(promise={"numTargetRowsUpdated": "many"}), "promise.numTargetRowsUpdated"),
        (changed(promise={"numTargetRowsUpdated": 1.5}), "promise.numTargetRowsUpdated"),
        (changed(plan_id=7), "plan_id"),
        (changed(executor="rm -rf"), "executor"),
        (changed(format_version="1"), "format_version"),
        (changed(format_version=True), "format_version"),
        (changed(format_version=0), "format_version"),
        (make_plan().to_json().replace("plan-1", "\\ud800"), "not valid"),
    ],
)
def test_a_plan_that_is_not_as_it_should_be_names_the_key(text: str, says: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "PLAN_FILE_INVALID"
    assert says in caught.value.message
    assert "\n" not in caught.value.message


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_no_json_gets_anything_but_a_clear_error(value: Any) -> None:
    for document in (
        value,
        {"format_version": 1, "plan_id": value},
        {"format_version": value, "plan_id": "x"},
    ):
        with pytest.raises(EngineError):
            read_plan(json.dumps(document))


def test_a_plan_is_written_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("an older one", encoding="utf-8")
    write_plan(path, make_plan())
    assert read_plan_file(path) == make_plan()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]


def test_a_plan_that_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.json"
    path.write_text("an older one", encoding="utf-8")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(EngineError, match="No space left") as caught:
        write_plan(path, make_plan())
    assert caught.value.condition == "PLAN_FILE_NOT_WRITTEN"
    assert path.read_text(encoding="utf-8") == "an older one"
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        write_plan(tmp_path / "missing" / "plan.json", make_plan())
    assert caught.value.condition == "PLAN_FILE_NOT_WRITTEN"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan_file(tmp_path / "missing.json")
    assert caught.value.condition == "PLAN_FILE_UNREADABLE"
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(EngineError) as caught:
        read_plan_file(binary)
    assert caught.value.condition == "PLAN_FILE_DAMAGED"


def test_the_schema_in_the_package_is_current() -> None:
    for file, kind in ((SCHEMA_FILE, Plan), (CREATE_SCHEMA_FILE, CreatePlan)):
        assert file.read_text(encoding="utf-8") == schema_text(kind), "run: python -m engine.plan_file"


def test_the_schema_names_every_key_of_a_plan() -> None:
    schema = plan_schema()
    assert set(schema["properties"]) == set(json.loads(make_plan().to_json()))
    assert schema["additionalProperties"] is False
