"""The plan file: lossless both ways, and strict when it is read."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.commit.check_plan import check_plan
from engine.model.create_values import CreatePlan
from engine.model.errors import EngineError
from engine.model.expectation import ExpectationResult
from engine.model.plan import Estimate, Plan
from engine.model.plan_checksum import checksum_of, is_as_written, plan_checksum
from engine.model.plan_file import (
    CREATE_SCHEMA_FILE,
    SCHEMA_FILE,
    plan_schema,
    read_plan,
    read_plan_file,
    schema_text,
    write_plan,
)
from engine.model.value import Value
from tests.engine.plans import make_create_plan, make_plan

FORMAT_1 = Path(__file__).parent / "plan_files"
"""Written by the last version of this program that wrote format 1."""


def changed(**changes: Any) -> str:
    """A plan file that says something else, and has the checksum of that."""
    document = json.loads(make_plan().to_json()) | changes
    return json.dumps(document | {"checksum": checksum_of(document)})


def edited(**changes: Any) -> str:
    """A plan file in which somebody changed these keys."""
    return json.dumps(json.loads(make_plan().to_json()) | changes)


def any_value(kind: type[Value]) -> st.SearchStrategy[Any]:
    """Any value of ``kind``, every key given (hypothesis cannot see pydantic's default factories)."""
    hints = get_type_hints(kind)
    return st.builds(kind, **{key: any_of(hints[key]) for key in kind.model_fields})


def any_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of the type ``hint``. Two items a collection are enough, since a plan nests them four deep."""
    parts = get_args(hint)
    if get_origin(hint) is tuple and parts[-1] is Ellipsis:
        return st.lists(any_of(parts[0]), max_size=2).map(tuple)
    if get_origin(hint) is dict:
        return st.dictionaries(*map(any_of, parts), max_size=2)
    if get_origin(hint) in (Union, UnionType):
        return st.one_of(*map(any_of, parts))
    return st.from_type(hint)


for subclass in Value.__subclasses__():
    st.register_type_strategy(subclass, any_value)
# the only floats of a plan are shares
st.register_type_strategy(float, st.floats(0, 1))


@given(st.from_type(Plan))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_plan_comes_back_as_it_was(plan: Plan) -> None:
    text = plan.to_json()
    again = Plan.from_json(text)
    assert again == plan
    assert again.to_json() == text


@given(st.from_type(CreatePlan))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
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
    assert ("another kind" in caught.value.message) == (text[0] in "[M\x00\ufeff")


@pytest.mark.parametrize(
    "text", ["[]", "null", '"plan"', "{}", '{"format_version": 1}', '{"name": "x", "version": "1"}']
)
def test_json_that_is_no_plan(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "NOT_A_PLAN"


def test_a_newer_format_is_refused_politely_whatever_else_it_holds() -> None:
    with pytest.raises(EngineError, match="format 3; this program reads format 2") as caught:
        read_plan('{"format_version": 3, "plan_id": {"new": "shape"}}')
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
        (changed(plan_id="\ud800"), "not valid"),
    ],
)
def test_a_plan_that_is_not_as_it_should_be_names_the_key(text: str, says: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "PLAN_FILE_INVALID"
    assert says in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("text", [make_plan().to_json(), make_create_plan().to_json()])
def test_a_plan_file_that_is_written_another_way_says_the_same(text: str) -> None:
    document = json.loads(text)
    backwards = {key: document[key] for key in reversed(document)}
    ways = (
        json.dumps(document),
        json.dumps(backwards, indent=7),
        json.dumps(document, ensure_ascii=False, indent="\t"),
    )
    for way in (*ways, "\n\n" + text.replace("\n", "\r\n") + "\n"):
        assert read_plan(way) == read_plan(text)


EDITS = {
    "a number": edited(promise=make_plan().promise | {"numTargetRowsUpdated": 901}),
    "the statement": edited(statement=json.loads(make_plan().to_json())["statement"] | {"sql": "MERGE"}),
    "a warning that is taken out": edited(warnings=[]),
    "the checksum": edited(checksum="0" * 64),
    "the checksum, in capitals": edited(checksum=json.loads(make_plan().to_json())["checksum"].upper()),
    "no checksum": edited(checksum=None),
    "a checksum that is none": edited(checksum=1),
    "a key that is added": edited(surprise=1),
    "an older format that had none": edited(format_version=1),
}


@pytest.mark.parametrize("text", EDITS.values(), ids=EDITS.keys())
def test_a_plan_file_that_was_edited_is_refused(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "PLAN_FILE_EDITED"
    assert "not as it was written" in caught.value.message
    assert "plan FILE.sql -o" in caught.value.hint


def test_a_plan_file_without_its_checksum_is_refused_and_says_so() -> None:
    with pytest.raises(EngineError, match="its checksum is not that of what it says"):
        read_plan(EDITS["a number"])
    document = json.loads(make_create_plan().to_json())
    del document["checksum"]
    with pytest.raises(EngineError, match="it has no checksum") as caught:
        read_plan(json.dumps(document))
    assert caught.value.condition == "PLAN_FILE_EDITED"


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The places in a document where something other than a list or an object stands."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [place for key, item in items for place in leaves(item, (*path, key))]
    return [path]


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_no_value_can_be_changed_unseen(data: st.DataObject) -> None:
    document = json.loads(make_plan().to_json())
    place = data.draw(st.sampled_from(leaves(document)))
    value = data.draw(st.none() | st.booleans() | st.integers() | st.text())
    holder: Any = document
    for key in place[:-1]:
        holder = holder[key]
    before = holder[place[-1]]
    holder[place[-1]] = value
    if type(value) is type(before) and value == before:
        assert read_plan(json.dumps(document)) == make_plan()
        return
    with pytest.raises(EngineError) as caught:
        read_plan(json.dumps(document))
    assert caught.value.condition.startswith("PLAN_FILE_")


@given(st.integers(min_value=0, max_value=len(make_plan().to_json()) - 3))
def test_no_file_that_was_cut_short_is_read(end: int) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(make_plan().to_json()[:end])
    assert caught.value.condition == "PLAN_FILE_DAMAGED"


@given(st.integers(min_value=0), st.sampled_from('{}[]":,0a é\\'))
@settings(deadline=None)
def test_no_damaged_character_changes_a_plan(at: int, other: str) -> None:
    text = make_plan().to_json()
    at %= len(text)
    try:
        found = read_plan(text[:at] + other + text[at + 1 :])
    except EngineError:
        return
    assert found == make_plan()


@pytest.mark.parametrize(("name", "kind"), [("merge_format_1", Plan), ("create_format_1", CreatePlan)])
def test_a_plan_of_format_1_is_shown_and_stays_as_it_was(name: str, kind: type[Plan | CreatePlan]) -> None:
    text = (FORMAT_1 / f"{name}.json").read_text(encoding="utf-8")
    plan = read_plan(text)
    assert isinstance(plan, kind)
    assert (plan.format_version, plan.state) == (1, None)
    assert plan.to_json() == text
    check_plan(plan.model_copy(update={"target": plan.target.model_copy(update={"name": "demo.orders"})}))
    with pytest.raises(EngineError) as caught:
        read_plan(text.replace('"format_version": 1', '"format_version": 2'))
    assert caught.value.condition == "PLAN_FILE_EDITED"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
@settings(max_examples=30)
def test_no_json_gets_anything_but_a_clear_error(value: Any) -> None:
    for document in (
        value,
        {"format_version": 1, "plan_id": value},
        {"format_version": 2, "plan_id": value},
        {"format_version": 2, "plan_id": "x", "checksum": value},
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
        assert file.read_text(encoding="utf-8") == schema_text(kind), "run: python -m engine.model.plan_file"


def test_the_schema_names_every_key_of_a_plan() -> None:
    schema = plan_schema()
    # a plan that was made without them has no such keys
    assert set(schema["properties"]) == {*json.loads(make_plan().to_json()), "changes", "expectations"}
    held = ExpectationResult(name="rows", kind="rows", status="pass", value="3", sentence="rows: 3.")
    assert "expectations" in json.loads(make_plan(expectations=(held,)).to_json())
    assert schema["additionalProperties"] is False


def test_a_file_of_a_newer_format_says_so() -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(json.dumps({"format_version": 999, "plan_id": "x"}))
    assert caught.value.condition == "PLAN_FILE_NEWER"


@pytest.mark.parametrize("text", ["[]", "7", '{"plan_id": "x"}', '{"format_version": 2}'])
def test_json_of_something_else_is_no_plan(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "NOT_A_PLAN"


@pytest.mark.parametrize("text", ["NaN", '{"format_version": Infinity}', "[" * 200_000])
def test_what_is_no_json_is_damaged(text: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_plan(text)
    assert caught.value.condition == "PLAN_FILE_DAMAGED"


def test_a_file_that_is_too_big_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.model.plan_file.MAX_BYTES", 10)
    path = tmp_path / "big.json"
    path.write_text("x" * 11, encoding="utf-8")
    with pytest.raises(EngineError, match="too big") as caught:
        read_plan_file(path)
    assert caught.value.condition == "PLAN_FILE_DAMAGED"


def test_half_files_of_processes_that_are_gone_are_removed(tmp_path: Path) -> None:
    left, mine, other = (
        tmp_path / f".plan.json.x.{who}.deltamerge-half" for who in ("999999999", os.getpid(), "nobody")
    )
    for path in (left, mine, other):
        path.touch()
    write_plan(tmp_path / "plan.json", make_plan())
    assert (left.exists(), mine.exists(), other.exists()) == (False, True, True)


def test_a_format_without_a_checksum_has_none() -> None:
    assert plan_checksum(make_plan(), 1) is None
    assert plan_checksum(make_plan(), 2) == json.loads(make_plan().to_json())["checksum"]


def test_a_checksum_is_that_of_the_content_not_of_its_order() -> None:
    assert checksum_of({"a": 1, "b": [2], "checksum": "x"}) == checksum_of({"b": [2], "a": 1})
    assert checksum_of({"a": 1}) != checksum_of({"a": 1.0})


def test_a_document_too_deep_for_a_checksum_is_none_of_ours() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert not is_as_written({"format_version": 2, "checksum": "x", "deep": deep})
