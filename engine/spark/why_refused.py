"""Why a store refuses: asked again by a listing, because HEAD, with which Spark begins, is refused without a reason."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from engine.model.errors import EngineError
from engine.spark.session_state import tagged
from engine.spark.spark_errors import translate
from engine.spark.store_errors import ANY_OF, STORE_DENIED, bucket_of_a_bare_refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

F = TypeVar("F", bound=Callable[..., object])
NOWHERE = ".deltamerge-no-such-folder/*"


def says_why_refused(function: F) -> F:
    """Replace a refusal without a reason, which ``function(spark, …)`` raises, by the one that a listing is given."""

    @functools.wraps(function)
    def asking(spark: SparkSession, *args: object, **kwargs: object) -> object:
        try:
            return function(spark, *args, **kwargs)
        except Exception as error:
            refused = translate(error)
            bucket = bucket_of_a_bare_refusal(refused)
            if bucket is None:
                raise
            tag = kwargs.get("tag")
            with tagged(spark, tag if isinstance(tag, str) else None):  # a cancel reaches it
                reason = _reason(spark, bucket, refused)
            if reason is None:
                raise
            raise reason from error

    return cast("F", asking)


def _reason(spark: Any, bucket: str, refused: EngineError) -> EngineError | None:
    try:
        # Hadoop lists a folder before it asks for it; one request, and no listing of what is in the bucket.
        spark.read.format("binaryFile").load(f"s3a://{bucket}/{NOWHERE}").collect()
    except Exception as error:
        listed = translate(error)
        if listed.condition == STORE_DENIED and bucket_of_a_bare_refusal(listed) is None:
            # what else was found out about the first one stands before the store's own hint
            found_out = refused.hint.removesuffix(ANY_OF)
            return type(refused)(listed.condition, listed.message, found_out + listed.hint)
    return None
