"""What is there before a CREATE or REPLACE TABLE runs, and what the statement then does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.create_values import Effect, TableState
from engine.model.plan import Refused
from engine.spark.confs import is_on
from engine.sql.parse_create import ParsedCreate
from engine.table.nested_types import Facts
from engine.table.table_features import IGNORE_DEFAULTS, is_protocol_property
from engine.table.table_state import CatalogEntry


@dataclass(frozen=True)
class Situation:
    """``before`` is the Delta table at ``location``, with or without the catalog ``entry``, and ``inside`` what its
    columns have beside their types (facts_inside); ``holds_data``: anything
    is there; ``has_log_directory``: a ``_delta_log`` is, which may be empty. ``catalog_managed`` is the session's
    default. ``defaults`` are the properties that the session gives to a new table; ``checks_types`` and ``geospatial``
    its settings of types.
    """

    entry: CatalogEntry | None
    location: str
    managed: bool
    before: TableState | None
    holds_data: bool
    has_log_directory: bool
    catalog_managed: bool = False
    arbitrary_properties: bool = False
    unenforced_not_null: bool = False
    enforces_retention: bool = True
    checks_types: bool = True
    geospatial: bool = False
    defaults: Mapping[str, str] = field(default_factory=dict)
    inside: Facts = frozenset()

    def with_defaults(self, configuration: Mapping[str, str]) -> dict[str, str]:
        """``configuration`` of a table, and what the session gives to it (DeltaConfigs.mergeGlobalConfigs)."""
        properties = {**self.defaults, **configuration}
        if not is_on(properties, IGNORE_DEFAULTS, "false"):
            return properties
        ours = {key: value for key, value in self.defaults.items() if not is_protocol_property(key)}
        return {**ours, IGNORE_DEFAULTS: "true", **configuration}

    @property
    def exists(self) -> bool:
        return self.entry is not None

    @property
    def is_empty(self) -> bool:
        return not (self.before or self.holds_data or self.has_log_directory)


def effect_of(create: ParsedCreate, around: Situation) -> Effect:
    """What the statement does, if nothing refuses it."""
    clones_by_path = create.form == "clone" and create.path is not None
    if create.if_not_exists and exists(create, around) and not clones_by_path:
        return "nothing"
    if around.before is None:
        return "create"
    if create.form in ("as_select", "clone"):
        return "replace"
    # without a catalog entry, CREATE OR REPLACE verifies the log that is there, and replaces nothing
    replaces = create.mode == "Replace" or (create.mode == "CreateOrReplace" and around.exists)
    return "replace" if replaces else "adopt"


def exists(create: ParsedCreate, around: Situation) -> bool:
    return around.exists or (create.path is not None and around.before is not None)


def refusal(condition: str, message: str, hint: str) -> Refused:
    """What a rule says that Delta refuses."""
    return Refused(condition=condition, message=message, hint=hint)
