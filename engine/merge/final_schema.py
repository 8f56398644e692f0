"""The target's schema after a MERGE, read from the MergeIntoCommand that EXPLAIN prints.

Only the analyzer knows what schema evolution adds (ResolveDeltaMergeInto, MergeIntoCommand.migratedSchema); it
prints the schema as Scala prints a StructType.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.model.errors import EngineError
from engine.spark.explain import OPERATOR

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

START = re.compile(r", StructType\((?=StructField\()")
EVOLVES = re.compile(r"(?:, \{[^}]*\})?, true")
BELOW = re.compile(rf"\n +[:+]- (?={OPERATOR})")
STAYS = re.compile(r"\)(?:, \{[^}]*\})?, false\s*$")
FIELD = re.compile(r"StructField\((.*?),(?=[A-Z]\w*Type\b)", re.DOTALL)
NAME = re.compile(r"[A-Z]\w*Type")
FLAG = re.compile(r",(true|false)\)")
ARGUMENTS = re.compile(r"\(([^()]*)\)")


def final_schema(analyzed: str, before: StructType, source: StructType) -> StructType:
    """The schema that the MERGE leaves: ``before`` itself, metadata and all, where it does not evolve.

    ``analyzed`` is the analyzed plan's text. Columns that stay keep their metadata and their place; those that are new
    bring the metadata of the ``source``, its default and its VARCHAR(n) (SchemaMergingUtils.mergeSchemas).
    """
    from pyspark.sql.types import StructField, StructType

    if not may_evolve(analyzed):
        return before
    analyzed = BELOW.split(analyzed, maxsplit=1)[0]
    for start in reversed([*START.finditer(analyzed)]):
        reader = _Reader(analyzed, start.start() + 2)
        try:
            after = reader.type()
        except _NotUnderstoodError:
            continue
        if not EVOLVES.match(analyzed, reader.at) or not isinstance(after, StructType):
            continue
        metadata = {field.name.lower(): field.metadata for field in (*source.fields, *before.fields)}
        committed = _committed(after, before)
        assert isinstance(committed, StructType)
        return StructType(
            [StructField(f.name, f.dataType, f.nullable, metadata.get(f.name.lower())) for f in committed.fields]
        )
    raise EngineError(
        "PLAN_NOT_UNDERSTOOD",
        "The schema after the MERGE could not be read from Spark's plan.",
        "Please report this statement.",
    )


def may_evolve(analyzed: str) -> bool:
    """Whether the MERGE may change the schema."""
    # what subqueries read stands below the command
    return STAYS.search(BELOW.split(analyzed, maxsplit=1)[0]) is None


def _committed(after: DataType, before: DataType | None) -> DataType:
    """ImplicitMetadataOperation.updateMetadata: what is new can be NULL, whatever the source says; the rest stays."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(after, StructType):
        known = {f.name.lower(): f for f in before.fields} if isinstance(before, StructType) else {}
        fields = []
        for f in after.fields:
            old = known.get(f.name.lower())
            data_type = _committed(f.dataType, old.dataType if old else None)
            fields.append(StructField(f.name, data_type, old.nullable if old else True))
        return StructType(fields)
    if isinstance(after, ArrayType):
        array = before if isinstance(before, ArrayType) else None
        element = _committed(after.elementType, array.elementType if array else None)
        return ArrayType(element, array.containsNull if array else True)
    if isinstance(after, MapType):
        known_map = before if isinstance(before, MapType) else None
        key = _committed(after.keyType, known_map.keyType if known_map else None)
        value = _committed(after.valueType, known_map.valueType if known_map else None)
        return MapType(key, value, known_map.valueContainsNull if known_map else True)
    return after


class _NotUnderstoodError(Exception):
    pass


class _Reader:
    """Reads one printed DataType from ``at`` on."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def type(self) -> DataType:
        from pyspark.sql import types

        name = self._take(NAME).group(0)
        if name == "StructType":
            return types.StructType(self._fields())
        if name == "ArrayType":
            self._skip("(")
            element = self.type()
            return types.ArrayType(element, self._flag())
        if name == "MapType":
            self._skip("(")
            key = self.type()
            self._skip(",")
            value = self.type()
            return types.MapType(key, value, self._flag())
        constructor = getattr(types, name, None)
        if constructor is None:
            raise _NotUnderstoodError(name)
        arguments = ARGUMENTS.match(self.text, self.at)
        if arguments is None:
            return constructor()  # type: ignore[no-any-return]
        self.at = arguments.end()
        return constructor(*(int(a) if a.strip().isdigit() else a for a in arguments.group(1).split(",")))  # type: ignore[no-any-return]

    def _fields(self) -> list[StructField]:
        from pyspark.sql.types import StructField

        self._skip("(")
        fields = []
        while not self.text.startswith(")", self.at):
            name = self._take(FIELD).group(1)
            data_type = self.type()
            fields.append(StructField(name, data_type, self._flag()))
            if self.text.startswith(",", self.at):
                self.at += 1
        self.at += 1
        return fields

    def _flag(self) -> bool:
        return self._take(FLAG).group(1) == "true"

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _NotUnderstoodError(self.text[self.at : self.at + 40])
        self.at = match.end()
        return match

    def _skip(self, sign: str) -> None:
        if not self.text.startswith(sign, self.at):
            raise _NotUnderstoodError(self.text[self.at : self.at + 40])
        self.at += len(sign)
