"""The JSON Schema of ``settings.toml``, for editors."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.commit.policy import Policy
from engine.model.checks import Checks

Scalar = str | bool | int | float


class Profile(BaseModel):
    """A Spark and its settings under a name."""

    model_config = ConfigDict(extra="forbid")

    master: str | None = Field(None, description="A Spark master: local[*], spark://…, yarn, k8s://…")
    remote: str | None = Field(None, description="A Spark Connect address: sc://host:port")
    store: Literal["s3", "abfs", "gcs"] | None = Field(None, description="The object store that Spark is to reach")
    conf: dict[str, Scalar | dict[str, Any]] = Field(default_factory=dict, description="Settings of Spark")
    private: bool = Field(False, description="Keep no value of a row")
    production: bool = Field(False, description="Say so on every screen")
    policy: Policy = Field(default_factory=Policy, description="What a plan may do")
    checks: Checks = Field(default_factory=Checks, description="Which silent faults a plan looks for")


class SettingsFile(BaseModel):
    """The settings of deltamerge-console."""

    model_config = ConfigDict(extra="forbid")

    theme: str | None = Field(None, description="The theme of the console")
    ascii: bool | None = Field(None, description="Draw with ASCII signs only; without it the locale decides")
    keys: dict[str, str | dict[str, Any]] = Field(default_factory=dict, description="Keys by the id of the action")
    profiles: dict[str, Profile] = Field(default_factory=dict, description="Sparks by name")


def settings_schema() -> dict[str, Any]:
    """The schema (draft 2020-12); ``docs/reference/settings.schema.json`` holds it."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SettingsFile.model_json_schema()}
