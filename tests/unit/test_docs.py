"""The docs are true: paths exist, commands and options exist, and every code is explained."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from textwrap import indent

import pytest

from console.cli.group import cli
from console.profiles import KNOWN, Policy
from console.settings_schema import Profile, settings_schema
from engine.demo.demo_sql import STATEMENTS
from engine.expect.expectation import KINDS
from engine.expect.schema import expectations_schema
from engine.model.create_values import CreatePlan
from engine.model.plan import Plan

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CODES = (ROOT / "docs/reference/codes.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \|", CODES, re.MULTILINE)
EXPLAINED = frozenset(ROWS)
RAISED = re.compile(r"[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+")
# classes of Spark and Delta, which their own documentation explains
NOT_OURS = ("DELTA_", "PARSE_SYNTAX_ERROR", "TABLE_OR_VIEW_NOT_FOUND")


def page_id(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", [one for one in PAGES if one.name != "CHANGELOG.md"], ids=page_id)
def test_each_path_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"\b(?:engine|console|tests|docs)/[\w./-]*\.(?:py|md|json)\b", text)
    missing = [path for path in named if not (ROOT / path).exists() and not (page.parent / path).exists()]
    assert not missing


def commands_in(text: str) -> Iterator[list[str]]:
    for line in re.findall(r"^    (?:\.venv/bin/)?(deltamerge-console .*)$", text, re.MULTILINE):
        yield shlex.split(line.split(" && ")[0], comments=True)[1:]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_each_command_that_a_page_shows_exists_with_its_options(page: Path) -> None:
    for words in commands_in(page.read_text(encoding="utf-8")):
        command = next((cli.commands[word] for word in words if word in cli.commands), None)
        known = {name for owner in (cli, command) if owner for param in owner.params for name in param.opts}
        unknown = [word for word in words if word.startswith("-") and word != "-" and word.split("=")[0] not in known]
        assert not unknown, words
        assert command is not None or not [word for word in words if not word.startswith("-")], words


def codes_in(module: str) -> Iterator[str]:
    """The codes that are given to errors, warnings and advice, as literals or constants of their module."""
    tree = ast.parse(module)
    constants = {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from (code for code in assigned(node) if RAISED.fullmatch(code))
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if not node.func.id.endswith(("Error", "Remark", "LayoutAdvice", "Failure")):
            continue
        first = [*node.args[:1], *(word.value for word in node.keywords if word.arg in ("code", "condition"))]
        for value in first:
            text = value.value if isinstance(value, ast.Constant) else constants.get(getattr(value, "id", ""))
            if isinstance(text, str) and RAISED.fullmatch(text) and not text.startswith(NOT_OURS):
                yield text


def assigned(node: ast.Assign) -> Iterator[str]:
    """What is assigned to a variable that is handed on as a code: ``name, message = "UNKNOWN_HOST", "…"``."""
    (target, *_), value = node.targets, node.value
    several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
    # where there is a star, what it takes comes last
    for name, given in zip(target.elts, value.elts, strict=False) if several else [(target, value)]:
        if isinstance(name, ast.Name) and name.id in ("name", "condition", "code") and isinstance(given, ast.Constant):
            yield str(given.value)


def test_the_tutorial_shows_the_merge_that_the_demo_opens_with() -> None:
    first = next(iter(STATEMENTS.values())).format(schema="demo")
    assert indent(first, " " * 4) in (ROOT / "docs" / "tutorial.md").read_text()


def test_every_code_is_explained() -> None:
    for path in [*ROOT.glob("engine/**/*.py"), *ROOT.glob("console/**/*.py")]:
        module = path.read_text(encoding="utf-8")
        # few modules have a word in quotes that may be a code without an explanation: only these are parsed
        if not EXPLAINED.issuperset(re.findall(f'"({RAISED.pattern})"', module)):
            assert EXPLAINED.issuperset(codes_in(module)), path


@pytest.mark.parametrize(
    "module",
    [
        'raise EngineError("NO_SUCH_CODE", "…")',
        'CODE = "NO_SUCH_CODE"\nfound = Remark(code=CODE)',
        'name, message = "NO_SUCH_CODE", "…"',
    ],
)
def test_a_code_is_found_however_it_is_given(module: str) -> None:
    assert list(codes_in(module)) == ["NO_SUCH_CODE"]


def test_no_code_is_explained_twice() -> None:
    assert len(ROWS) == len(EXPLAINED)


def test_the_schema_of_the_settings_is_that_of_the_program() -> None:
    shipped = json.loads((ROOT / "docs/reference/settings.schema.json").read_text(encoding="utf-8"))
    assert shipped == settings_schema()
    assert tuple(Profile.model_fields) == KNOWN


def test_the_schema_of_expectations_is_that_of_the_program() -> None:
    shipped = json.loads((ROOT / "docs/reference/expectations.schema.json").read_text(encoding="utf-8"))
    assert shipped == expectations_schema()


def test_each_kind_of_expectation_is_explained() -> None:
    page = (ROOT / "docs/reference/expectations.md").read_text(encoding="utf-8")
    assert not [kind for kind in KINDS if f"| `{kind}` |" not in page]


def test_each_rule_of_a_policy_is_explained() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert not [one.name for one in fields(Policy) if f"| `{one.name}` |" not in page]


def test_each_key_of_a_plan_file_is_explained() -> None:
    page = (ROOT / "docs/reference/plan-file.md").read_text(encoding="utf-8")
    keys = [*Plan.model_fields, *CreatePlan.model_fields]
    assert not [key for key in keys if f"`{key}`" not in page]
