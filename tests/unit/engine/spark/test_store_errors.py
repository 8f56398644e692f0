"""The words are those of Hadoop 3.5.0 and its AWS SDK against S3Proxy and MinIO, as a Connect client gets them."""

from __future__ import annotations

import pytest

from engine.spark.spark_errors import refused_while_planning
from engine.spark.store_errors import STORE_CODES, bucket_of_a_bare_refusal, store_error

SDK = "software.amazon.awssdk.services.s3.model."
NO_BUCKET = (
    "getFileStatus on s3a://nobucket/orders/_delta_log: " + SDK + "NoSuchBucketException: The specified bucket does not"
    " exist (Service: S3, Status Code: 404, Request ID: C88FD54754232773) (SDK Attempt Count: 1):NoSuchBucket"
)
BAD_SECRET = (
    "s3a://bucket/orders/_delta_log: listObjects() on s3a://bucket/orders/_delta_log: "
    + SDK
    + "S3Exception: The request signature we calculated does not match the signature you provided."
    " Check your key and signing method. (Service: S3, Status Code: 403, Request ID: C80) (SDK Attempt Count: 1)"
    ":SignatureDoesNotMatch"
)
FORBIDDEN = SDK + "S3Exception: Forbidden (Service: S3, Status Code: 403, Request ID: CFEC38E83327B5E9)"
DOWN = (
    "getFileStatus on s3a://bucket/t: software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP"
    " request: Connect to 127.0.0.1:1 [/127.0.0.1] failed: Connection refused"
)
NO_JARS = "ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (NO_BUCKET, "STORE_NO_BUCKET", "The store has no bucket nobucket."),
        (BAD_SECRET, "STORE_DENIED", "the secret key is not that of the access key."),
        (FORBIDDEN, "STORE_DENIED", "The store refuses access to the bucket of that path without"),
        (DOWN, "STORE_UNREACHABLE", "The store does not answer at 127.0.0.1:1."),
        (NO_JARS, "STORE_NO_JARS", "has no jars"),
        ("UnknownHostException: metadata.google.internal", "STORE_NO_CREDENTIALS", "no machine of Google's"),
        ("UnknownHostException: acct.dfs.core.windows.net", "STORE_UNREACHABLE", "acct.dfs.core.windows.net"),
        (FORBIDDEN.replace("Forbidden", "ExpiredToken"), "STORE_DENIED", "it has expired"),
        (FORBIDDEN.replace("Forbidden", "RequestTimeTooSkewed"), "STORE_DENIED", "clock"),
        (FORBIDDEN.replace("Forbidden", "x").replace("403", "400"), "STORE_DENIED", "without saying why"),
        (FORBIDDEN + ":null", "STORE_DENIED", "without saying why"),
        (FORBIDDEN + ":403 Forbidden", "STORE_DENIED", "without saying why"),
        (FORBIDDEN + ":InvalidObjectState", "STORE_DENIED", "of that path: InvalidObjectState."),
        (
            FORBIDDEN.replace("Forbidden", "x").replace("403", "400") + ":RequestTimeout",
            "STORE_UNREACHABLE",
            "takes too long",
        ),
        (FORBIDDEN.replace("Forbidden", "x").replace("403", "503"), "STORE_FAILED", "too much to do"),
        (FORBIDDEN.replace("Forbidden", "x").replace("403", "500"), "STORE_FAILED", "(status 500)"),
        (FORBIDDEN.replace("Forbidden", "x").replace("403", "301"), "STORE_DENIED", "in another region"),
        (
            "s3a://lake/t: listObjects() on s3a://lake/t: " + FORBIDDEN + ":AccessDenied",
            "STORE_DENIED",
            "to the bucket lake: the key has no right",
        ),
        (
            "s3a://lake/t/part-0: Writing Object on t/part-0: " + FORBIDDEN + ":AccessDenied",
            "STORE_DENIED",
            "refuses to write into the bucket lake.",
        ),
        (
            "getFileStatus on s3a://lake/t: software.amazon.awssdk.core.exception.SdkClientException: Unable to execute"
            " HTTP request: Read timed out",
            "STORE_UNREACHABLE",
            "takes too long",
        ),
        (
            "getFileStatus on s3a://lake/t: software.amazon.awssdk.core.exception.SdkClientException: Could not parse"
            " XML response. (SDK Attempt Count: 1)",
            "STORE_UNREACHABLE",
            "break off",
        ),
        (FORBIDDEN.replace("Forbidden", "InvalidAccessKeyId"), "STORE_DENIED", "does not know the access key"),
        ("IllegalArgumentException: bucket is null/empty", "STORE_NO_BUCKET", "no bucket that S3A can read"),
        (
            "abfss://c@nobody.dfs.core.windows.net/t: org.apache.hadoop.fs.azurebfs.AzureException: status code: -1"
            " java.net.ConnectException: Connection refused",
            "STORE_UNREACHABLE",
            "The store does not answer.",
        ),
        (
            "IOException: Your default credentials were not found. To set up Application Default Credentials, see ...",
            "STORE_NO_CREDENTIALS",
            "no credentials",
        ),
        (
            "s3a://b/t: org.apache.hadoop.fs.s3a.auth.NoAwsCredentialsException",
            "STORE_NO_CREDENTIALS",
            "no credentials",
        ),
    ],
)
def test_one_sentence_with_cause_and_remedy(text: str, code: str, said: str) -> None:
    for error in (store_error(text), refused_while_planning(text, "")):
        assert error is not None
        assert error.condition == code
        assert said in error.message
        assert error.hint
        assert "Request ID" not in error.message


def test_only_a_refusal_without_a_reason_is_asked_again() -> None:
    bare = store_error("getFileStatus on s3a://a.lake/t: " + FORBIDDEN)
    assert bare is not None
    assert bucket_of_a_bare_refusal(bare) == "a.lake"
    told = store_error("s3a://a.lake/t: " + FORBIDDEN + ":SignatureDoesNotMatch")
    assert told is not None
    assert bucket_of_a_bare_refusal(told) is None


@pytest.mark.parametrize(
    "text",
    ["Forbidden", "the order NoSuchBucket was refused: Status Code: 403", "Connection refused", "s3a://b/t is odd"],
)
def test_what_is_not_of_a_store_is_none_of_its_errors(text: str) -> None:
    assert store_error(text) is None
    assert refused_while_planning(text, "").condition not in STORE_CODES


def test_a_word_in_an_error_that_has_a_class_is_not_the_stores() -> None:
    text = "org.apache.spark.sql.AnalysisException: [UNRESOLVED_COLUMN] `Forbidden` is no column of s3a://b/t."
    assert refused_while_planning(text, "").condition == "UNRESOLVED_COLUMN"
    wrapped = f"org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] s3a://b/t/part-0: {FORBIDDEN}"
    assert refused_while_planning(wrapped, "").condition == "STORE_DENIED"
