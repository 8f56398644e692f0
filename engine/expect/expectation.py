"""The expectations of a table, as a file of YAML has them. Pure."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from engine.model.errors import UsageError
from engine.sql.lexer import tokenize

UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
DURATION = re.compile(r"(\d+)\s*(s|m|h|d|w)(?:ec|econds?|in|inutes?|ours?|ays?|eeks?)?")
SHARE = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)")
LONGEST_NAME = 80
NAMED_COLUMNS: Final = 4
KINDS: Final = ("unique", "not_null", "history", "accepted", "references", "rows", "sum", "freshness", "sql")


def _seconds(value: Any) -> Any:
    """``30s``, ``10 minutes``, ``1 day``."""
    if isinstance(value, int):
        return value
    match = DURATION.fullmatch(str(value).strip().lower())
    if match is None or not int(match[1]):
        raise ValueError(f"{value!r} is no duration: write 30s, 10m, 6h, 1d or 1w")
    return int(match[1]) * UNITS[match[2]]


def _share(value: Any) -> Any:
    """``10%`` or ``0.1``."""
    match = SHARE.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f"{value!r} is no share: write 10% or 0.1")
    return Decimal(match[1]) / (100 if match[2] else 1)


def _reference(value: Any) -> Any:
    if len(parts_of(str(value)) or ()) < 2:
        raise ValueError(f"{value!r} is no column of a table: write schema.table.column")
    return value


def parts_of(name: str) -> tuple[str, ...] | None:
    """The parts of a dotted name, their back-quotes taken off; None if it is none."""
    try:
        tokens = tokenize(name)
    except UsageError:
        return None
    names, dots = tokens[::2], tokens[1::2]
    if len(names) != len(dots) + 1 or any(dot.text != "." for dot in dots):
        return None
    is_name = all(one.word or one.text.startswith("`") for one in names)
    return tuple(one.name for one in names) if is_name else None


Duration = Annotated[
    int,
    BeforeValidator(_seconds),
    WithJsonSchema(
        {
            "type": ["string", "integer"],
            "pattern": r"^0*[1-9]\d* *(s(ec(onds?)?)?|m(in(utes?)?)?|h(ours?)?|d(ays?)?|w(eeks?)?)$",
            "examples": ["30s", "6h", "1 day"],
        }
    ),
]
Share = Annotated[
    Decimal,
    BeforeValidator(_share),
    WithJsonSchema({"type": ["string", "number"], "pattern": r"^\d+(\.\d+)? ?%?$", "examples": ["10%", 0.1]}),
]
Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
Word = Annotated[str, Field(min_length=1)]
Columns = Annotated[tuple[Word, ...], Field(min_length=1)]
Reference = Annotated[Word, BeforeValidator(_reference)]
# a reader of YAML makes a number of 1 and a truth of yes; they are taken as they are typed
Allowed = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    WithJsonSchema({"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}, "minItems": 1}),
]


class Part(BaseModel):
    """Base of what a file holds: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Bounds(Part):
    """``min`` and ``max`` of a number after the MERGE; ``change``: the share of the number before by which it may
    differ."""

    min: Number | None = None
    max: Number | None = None
    change: Share | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Bounds:
        if self.min is None and self.max is None and self.change is None:
            raise ValueError("min, max or change is missing")
        return self


class HistoryRows(Part):
    """A table that keeps several rows of a ``key``: one of them is ``current``, and what lies between ``from`` and
    ``to`` (NULL: no end) of one row overlaps that of no other."""

    key: Columns
    current: Word
    since: Word | None = Field(None, alias="from")
    until: Word | None = Field(None, alias="to")

    @model_validator(mode="after")
    def _has_both_ends(self) -> HistoryRows:
        if (self.since is None) != (self.until is None):
            raise ValueError("from and to come together")
        return self


class Expectation(Part):
    """One expectation: exactly one kind, and how much it matters."""

    model_config = ConfigDict(
        json_schema_extra=lambda schema: schema.update(oneOf=[{"required": [kind]} for kind in KINDS])
    )

    name: Annotated[str, Field(pattern=r"^[\w.-]+$", max_length=LONGEST_NAME)] = ""
    severity: Literal["error", "warn"] = "error"
    timeout: Duration = 300
    unique: Columns | None = Field(None, description="Columns that no two rows share")
    not_null: Columns | None = Field(None, description="Columns without NULL")
    history: HistoryRows | None = None
    accepted: dict[str, Allowed] | None = Field(None, min_length=1, description="Column: the values that it may have")
    references: dict[str, Reference] | None = Field(
        None, min_length=1, description="Column: schema.table.column, in which its value must be"
    )
    rows: Bounds | None = Field(None, description="The number of rows")
    sum: dict[str, Bounds] | None = Field(None, min_length=1, description="Column: bounds of its sum")
    freshness: dict[str, Duration] | None = Field(
        None, min_length=1, description="Column of a time: how old its latest value may be"
    )
    sql: Word | None = Field(None, description="A SELECT over before, after, changes and source: the rows that fail")

    @model_validator(mode="before")
    @classmethod
    def _has_one_kind(cls, values: Any) -> Any:
        if isinstance(values, dict):
            kinds = [kind for kind in KINDS if kind in values]
            if len(kinds) != 1:
                how = f"it has {' and '.join(kinds)}" if kinds else "it has none"
                raise ValueError(f"an expectation has one kind ({', '.join(KINDS)}), and {how}")
            if kinds == ["sql"] and not values.get("name"):
                raise ValueError("an expectation in SQL needs a name")
        return values

    @model_validator(mode="after")
    def _is_named(self) -> Expectation:
        if not self.name:
            # it is typed to accept a failure
            first, more = self.columns[:NAMED_COLUMNS], len(self.columns) - NAMED_COLUMNS
            parts = (self.kind, *first, f"and_{more}_more" if more > 0 else "")
            words = re.sub(r"\W+", "_", "_".join(parts)).strip("_")
            object.__setattr__(self, "name", words[:LONGEST_NAME])
        return self

    @property
    def kind(self) -> str:
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that it names; those of SQL are not known."""
        if self.history is not None:
            ends = (self.history.current, self.history.since, self.history.until)
            return (*self.history.key, *(name for name in ends if name))
        named = self.unique or self.not_null or self.accepted or self.references or self.sum or self.freshness or ()
        return tuple(named)
