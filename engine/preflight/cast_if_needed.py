"""castIfNeeded of UpdateExpressionsSupport: a value as it is stored in its column.

Casts as the store assignment does, struct fields by name, in arrays and maps too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from engine.preflight.target_rules import StoreCast
from engine.sql.expressions import read_expression
from engine.sql.names import quote, string
from engine.sql.sql_text import text_of
from engine.sql.store_types import can_cast_nested, can_up_cast, ddl, holds_structs, is_same, plain

if TYPE_CHECKING:
    from pyspark.sql.types import ArrayType, DataType, MapType, StructType

DOES_NOT_FIT = "__dm_does_not_fit "
"""Before the class of the error, in the message that our own cast raises; no statement may say it."""
ARRAY_FUNCTIONS = {"array_union": 2, "array_intersect": 2, "array_except": 2, "array_remove": 2, "array_distinct": 1}
"""Functions over arrays of structs whose operands are cast, not what they give, and how many they have."""


@dataclass(frozen=True)
class Given:
    """An expression as the statement gives it: its text, its type, whether it can be NULL, whether it refers to the
    target row, and what in its subqueries gives other values each time. ``operands`` are those of ARRAY_FUNCTIONS."""

    text: str
    type: DataType
    nullable: bool
    of_target: bool
    volatile: str = ""
    operands: tuple[Given, ...] = ()


Named: TypeAlias = "tuple[tuple[str, ...], Given]"
"""What is assigned: the path of a column or of a field in it, and the expression."""


def array_call(expression: str) -> tuple[str, tuple[str, ...]]:
    """(Name, operands) of an expression that is a call of one of ARRAY_FUNCTIONS; of any other ("", ())."""
    tokens, node = read_expression(expression)
    while node.kind == "brackets":
        node = node.children[0]
    # a schema has functions of its own
    name = node.name.removeprefix("system.builtin.") if node.kind == "call" else ""
    if ARRAY_FUNCTIONS.get(name) != len(node.children):
        return "", ()
    return name, tuple(text_of(expression, tokens[one.start : one.end]) for one in node.children)


def with_operands(expression: str) -> Iterator[str]:
    """The expression, and all operands of ARRAY_FUNCTIONS in it, each before its own."""
    yield expression
    for operand in array_call(expression)[1]:
        yield from with_operands(operand)


def cast_if_needed(
    one: Given,
    wanted: DataType,
    cast: StoreCast,
    kept_value: str | None = None,
    kept_type: DataType | None = None,
) -> str:
    """The expression as it is stored in a column of type ``wanted``; the rest as for :func:`stored`.

    Of a function over arrays of structs it is the operands that are cast: values that are equal only then are one.
    """
    given = one.type
    if not one.operands or is_same(given, wanted) or not (_has_struct_items(given) and _has_struct_items(wanted)):
        return stored(one.text, given, wanted, cast, kept_value, kept_type)
    name, _ = array_call(one.text)
    item = (given.elementType, wanted.elementType)
    types = ((given, wanted), item if name == "array_remove" else (given, wanted))
    return f"{name}({', '.join(_operand(*pair, cast) for pair in zip(one.operands, types, strict=False))})"


def _operand(one: Given, types: tuple[DataType, DataType], cast: StoreCast) -> str:
    """``types``: that which Spark brings all operands to, and that of the column."""
    common, wanted = types
    if is_same(one.type, common):
        return cast_if_needed(one, wanted, cast)
    return stored(f"CAST(({one.text}\n) AS {ddl(common)})", common, wanted, cast)


def _has_struct_items(type_: DataType) -> TypeGuard[ArrayType]:
    item: DataType | None = getattr(type_, "elementType", None)
    return item is not None and item.typeName() == "struct"


def stored(
    text: str,
    given: DataType,
    wanted: DataType,
    cast: StoreCast,
    kept_value: str | None = None,
    kept_type: DataType | None = None,
    depth: int = 0,
) -> str:
    """castIfNeeded: ``text`` of type ``given`` as it is stored in a column of type ``wanted``.

    Structs go as ``cast`` says, in arrays and maps too. ``kept_value``, of UPDATE SET * alone, keeps the fields of a
    struct that only the target has.
    """
    from pyspark.sql.types import ArrayType, MapType, StructType

    if is_same(given, wanted):
        return text if plain(text) else f"({text}\n)"
    if isinstance(given, StructType) and isinstance(wanted, StructType) and cast.by_name:
        return _struct(text, given, wanted, cast, kept_value, kept_type, depth)
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType) and (_has_struct_items(wanted) or cast.raises):
        x = f"__dm_x{depth}"
        item = stored(x, given.elementType, wanted.elementType, cast, depth=depth + 1)
        return f"transform(({text}\n), {x} -> {item})"
    if isinstance(given, MapType) and isinstance(wanted, MapType) and _by_parts(given, wanted, cast):
        k, v = f"__dm_k{depth}", f"__dm_v{depth}"
        # only what makes the keys anew finds two that are the same
        if not is_same(given.keyType, wanted.keyType):
            key = stored(k, given.keyType, wanted.keyType, cast, depth=depth + 1)
            text = f"transform_keys(({text}\n), ({k}, {v}) -> {key})"
        if not is_same(given.valueType, wanted.valueType):
            value = stored(v, given.valueType, wanted.valueType, cast, depth=depth + 1)
            text = f"transform_values(({text}\n), ({k}, {v}) -> {value})"
        return text
    if can_up_cast(given, wanted):
        return f"CAST(({text}\n) AS {ddl(wanted)})"
    if cast.raises:
        return _raising(text, given, wanted, cast, depth)
    return f"{cast.function}(({text}\n) AS {ddl(wanted)})"


def _raising(text: str, given: DataType, wanted: DataType, cast: StoreCast, depth: int) -> str:
    """The cast of a value, each part by itself, that raises USER_RAISED_EXCEPTION with DOES_NOT_FIT and the class that
    Spark's own cast would raise."""
    from pyspark.sql.types import MapType, StructType

    if isinstance(given, StructType) and isinstance(wanted, StructType):
        pairs = zip(given.fields, wanted.fields, strict=False)
        inner = [stored(f"({text}\n).{quote(a.name)}", a.dataType, b.dataType, cast, depth=depth) for a, b in pairs]
        return f"CASE WHEN ({text}\n) IS NOT NULL THEN `struct`({', '.join(inner)}) END"
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        x = f"__dm_x{depth}"
        sizes = [
            f"size(transform({part}(({text}\n)), {x} -> {stored(x, a, b, cast, depth=depth + 1)}))"
            for part, a, b in (
                ("map_keys", given.keyType, wanted.keyType),
                ("map_values", given.valueType, wanted.valueType),
            )
        ]
        # to put them together again would raise for keys that are the same now, which Spark's cast lets be
        return f"CASE WHEN {' + '.join(sizes)} >= 0 THEN CAST(`map`() AS {ddl(wanted)}) END"
    if given.typeName() == "variant":
        # it is strict in each session, as the cast is under ANSI
        return f"variant_get(({text}\n), '$', {string(ddl(wanted))})"
    return f"coalesce(try_cast(({text}\n) AS {ddl(wanted)}), {_error(text, given, wanted)})"


def has_value(text: str, given: DataType, wanted: DataType) -> str:
    """Whether a value is none that Spark's cast makes NULL in each session: NULL, and of a DECIMAL NaN and infinity."""
    not_finite = wanted.typeName() == "decimal" and given.typeName() in ("float", "double")
    return f"({text}\n) IS NOT NULL" + (f" AND abs(({text}\n)) < double('Infinity')" if not_finite else "")


def _error(text: str, given: DataType, wanted: DataType) -> str:
    """What raises for a value that try_cast makes NULL, if it is none that Spark's cast makes NULL too."""
    is_text, to_decimal = given.typeName() in ("string", "char", "varchar"), wanted.typeName() == "decimal"
    class_ = "'CAST_INVALID_INPUT'" if is_text else "'CAST_OVERFLOW'"
    if is_text and to_decimal:
        class_ = f"CASE WHEN try_cast(({text}\n) AS DOUBLE) IS NULL THEN {class_} ELSE 'CAST_OVERFLOW' END"
    return f"CASE WHEN {has_value(text, given, wanted)} THEN raise_error(concat('{DOES_NOT_FIT}', {class_})) END"


def _by_parts(given: MapType, wanted: MapType, cast: StoreCast) -> bool:
    """Whether Delta makes a map's keys and values anew, each by itself; else the map is cast as a whole."""
    return not can_cast_nested(given, wanted) or (cast.by_name and holds_structs(given) and holds_structs(wanted))


def _struct(
    text: str,
    given: StructType,
    wanted: StructType,
    cast: StoreCast,
    kept_value: str | None,
    kept_type: DataType | None,
    depth: int,
) -> str:
    from pyspark.sql.types import StructType

    known = {f.name.lower(): f for f in given.fields}
    old = {f.name.lower(): f for f in kept_type.fields} if kept_value and isinstance(kept_type, StructType) else {}
    parts = []
    for field in wanted.fields:
        mine, kept_field = known.get(field.name.lower()), old.get(field.name.lower())
        kept_text = f"{kept_value}.{quote(kept_field.name)}" if kept_field else None
        if mine is not None:
            value = stored(
                f"({text}\n).{quote(mine.name)}",
                mine.dataType,
                field.dataType,
                cast,
                kept_text,
                kept_field.dataType if kept_field else None,
                depth,
            )
        else:
            value = f"CAST({kept_text or 'NULL'} AS {ddl(field.dataType)})"
        parts.append(f"{string(field.name)}, {value}")
    struct = f"named_struct({', '.join(parts)})"
    if not cast.keeps_null:
        return struct
    null = f"(({text}\n) IS NULL)"
    if kept_value and old and _has_extra(given, wanted):
        null = f"({null} AND ({kept_value} IS NULL))"
    return f"(CASE WHEN {null} THEN CAST(NULL AS {ddl(wanted)}) ELSE {struct} END)"


def _has_extra(given: StructType, wanted: StructType) -> bool:
    """Whether ``wanted`` has a field, at any depth of structs, that ``given`` lacks."""
    from pyspark.sql.types import StructType

    known = {f.name.lower(): f.dataType for f in given.fields}
    for field in wanted.fields:
        mine = known.get(field.name.lower())
        if mine is None:
            return True
        if isinstance(mine, StructType) and isinstance(field.dataType, StructType) and _has_extra(mine, field.dataType):
            return True
    return False
