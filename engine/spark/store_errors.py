"""What an object store's client says when it fails, as one sentence with its cause and what to do.

Hadoop's S3A (S3AUtils.translateException) and the AWS SDK give no Spark class; their words are recognised here.
"""

from __future__ import annotations

import re

from engine.model.errors import EngineError

STORE_DENIED = "STORE_DENIED"
STORE_NO_BUCKET = "STORE_NO_BUCKET"
STORE_NO_JARS = "STORE_NO_JARS"
STORE_NO_CREDENTIALS = "STORE_NO_CREDENTIALS"
STORE_UNREACHABLE = "STORE_UNREACHABLE"
STORE_FAILED = "STORE_FAILED"
STORE_CODES = (
    *(STORE_DENIED, STORE_NO_BUCKET, STORE_NO_JARS, STORE_NO_CREDENTIALS),
    *(STORE_UNREACHABLE, STORE_FAILED),
)

# Only an error of a store's client is read: a row, or another server, may say "Forbidden" too.
_CLIENT = re.compile(
    r"software\.amazon\.awssdk|org\.apache\.hadoop\.fs\.s3a|\(Service: S3,|\bs3a?://|\bS3AFileSystem\b|bucket is null"
    r"|\bazurebfs\b|\babfss?://|\bfs\.azure\.|\bfs\.gs\.|\bgs://|default credentials were not found"
)
_NO_JARS = re.compile(
    r"Class org\.apache\.hadoop\.fs\.(?:s3a|azurebfs|gs)\.\S+ not found"
    r'|No FileSystem for scheme "?(?:s3|s3a|abfss?|gs)\b'
)
_OTHER_HOST = re.compile(r"UnknownHostException: (\S+\.(?:core\.windows\.net|googleapis\.com))")
_BUCKET = re.compile(r"\bs3a?://([^/\s'\"`:]+)")
_KEYS = "Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and what that key may do."
_BARE = "without saying why"
ANY_OF = "It may be the key, its secret, a session token that has expired, a right, or the clock. " + _KEYS
# What S3A was doing: S3ABlockOutputStream, WriteOperationHelper, S3AFileSystem.
_WRITING = r"Writing Object on|PUT 0-byte|[pP]utObject|[iI]nitiate ?[mM]ulti|[mM]ultipart|Completing upload|mkdirs"
_WAIT_LONGER = (
    "Check the store and the network; if it is slow, give --conf spark.hadoop.fs.s3a.connection.timeout=60s and "
    "spark.hadoop.fs.s3a.connection.request.timeout=180s."
)
_NO_ANSWER = (
    r"Connection re(?:fused|set)|UnknownHostException|ConnectTimeout|timed out|Unable to execute HTTP request"
    r"|failed to respond"
)

#: (what the client says, the code, the sentence, what to do), the first that fits; with {bucket} and {where}.
_KNOWN = (
    (
        r"NoSuchBucket|UnknownStoreException",
        STORE_NO_BUCKET,
        "The store has no bucket {bucket}.",
        "Create it, or correct the path or AWS_ENDPOINT_URL_S3.",
    ),
    (
        r"bucket is null/empty",
        STORE_NO_BUCKET,
        "The path names no bucket that S3A can read: a name has small letters, digits, dots and hyphens.",
        "Correct the path; an underscore in the name of a bucket is not possible.",
    ),
    (
        r"SignatureDoesNotMatch|request signature we calculated",
        STORE_DENIED,
        "The store refuses the request: the secret key is not that of the access key.",
        _KEYS,
    ),
    (r"InvalidAccessKeyId", STORE_DENIED, "The store does not know the access key.", _KEYS),
    (
        r"ExpiredToken|TokenExpired|InvalidToken",
        STORE_DENIED,
        "The store refuses the session token: it has expired, or belongs to another key.",
        "Fetch a new one, set AWS_SESSION_TOKEN, and run the command again: Spark starts anew.",
    ),
    (
        r"RequestTimeTooSkewed",
        STORE_DENIED,
        "The store refuses the request: this machine's clock differs too much from its own.",
        "Set the clock.",
    ),
    (
        r"default credentials were not found",
        STORE_NO_CREDENTIALS,
        "There are no credentials for the store.",
        "Set GOOGLE_APPLICATION_CREDENTIALS, and run the command again.",
    ),
    (
        r"NoAwsCredentialsException|No AWS Credentials|Unable to load credentials",
        STORE_NO_CREDENTIALS,
        "There are no credentials for the store.",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, and run the command again.",
    ),
    (
        r"subject alternative names|SSLPeerUnverifiedException",
        STORE_UNREACHABLE,
        "The store's certificate is not for the host name of the bucket {bucket}, which may hold a dot.",
        "Give --conf spark.hadoop.fs.s3a.path.style.access=true.",
    ),
    (
        r"(?s)AuthorizationHeaderMalformed|PermanentRedirect|Status Code: 301\b",
        STORE_DENIED,
        "The bucket {bucket} is in another region than the one that is asked.",
        "Set AWS_REGION to its region, and run the command again.",
    ),
    (
        rf"(?s)(?:{_WRITING}).*(?:AccessDenied|Status Code: 403\b)|(?:AccessDenied|Status Code: 403\b).*(?:{_WRITING})",
        STORE_DENIED,
        "The store refuses to write into the bucket {bucket}.",
        "Give the key the right to put there (s3:PutObject, s3:DeleteObject), or use one that has it. Reading works.",
    ),
    (
        r":AccessDenied|Access Denied",
        STORE_DENIED,
        "The store refuses access to the bucket {bucket}: the key has no right to do that there.",
        "Give the key the right to list and read (s3:ListBucket, s3:GetObject), or use one that has it.",
    ),
    (
        r"Status Code: 40[013]\b[^)]*\):(?!null\b|\d)(?!RequestTimeout\b)(?P<code>\w+)",
        STORE_DENIED,
        "The store refuses a request in the bucket {bucket}: {code}.",
        "Look for that code in the documentation of the store.",
    ),
    (
        r"Status Code: 40[013]\b(?!.*:RequestTimeout\b)|AccessDenied|Forbidden",
        STORE_DENIED,
        f"The store refuses access to the bucket {{bucket}} {_BARE}.",
        ANY_OF,
    ),
    (
        r"SlowDown|Status Code: (?:429|503)\b",
        STORE_FAILED,
        "The store has too much to do (status {status}), and asked for fewer requests until the tries were used up.",
        "Run the command again later. Spark itself is up.",
    ),
    (
        r"Status Code: 50[024]\b",
        STORE_FAILED,
        "The store failed at a request, again and again (status {status}).",
        "Look into the store's own log, and run the command again. Spark itself is up.",
    ),
    (
        r":RequestTimeout\b|Read timed out|ApiCall(?:Attempt)?Timeout|did not complete before the specified timeout",
        STORE_UNREACHABLE,
        "The store takes too long: an answer did not come, or not all of it, in any of the tries.",
        _WAIT_LONGER,
    ),
    (
        r"Could not parse XML response|Premature end of",
        STORE_UNREACHABLE,
        "The answers of the store break off or stall, in each of the tries.",
        "Check the network, and the proxy or the gateway before the store, if there is one.",
    ),
    (
        _NO_ANSWER,
        STORE_UNREACHABLE,
        "The store does not answer{where}.",
        "Check the path, AWS_ENDPOINT_URL_S3 and the network. Spark itself is up.",
    ),
)


def store_error(text: str) -> EngineError | None:
    """The error of a store's client in ``text``, all that Spark said, causes included; None if it is another's."""
    if _NO_JARS.search(text):
        return EngineError(
            STORE_NO_JARS,
            "This Spark has no jars for the object store of that path.",
            "Give --store s3 (abfs, gcs). A Connect server of yours needs the connector of its own Hadoop version.",
        )
    if "UnknownHostException: metadata.google.internal" in text:
        return EngineError(
            STORE_NO_CREDENTIALS,
            "There are no credentials for the store: this is no machine of Google's.",
            "Set GOOGLE_APPLICATION_CREDENTIALS=KEY-FILE.json, and run the command again.",
        )
    if host := _OTHER_HOST.search(text):
        return EngineError(
            STORE_UNREACHABLE,
            f"The store does not answer: the host {host[1]} is not known.",
            "Check the account in the path and the network. Spark itself is up.",
        )
    if not _CLIENT.search(text):
        return None
    for pattern, code, sentence, hint in _KNOWN:
        if found := re.search(pattern, text):
            bucket, host = _BUCKET.search(text), re.search(r"Connect to (\S+)", text)
            status = re.search(r"Status Code: (\d+)", text)
            named = sentence.format(
                bucket=bucket[1] if bucket else "of that path",
                where=f" at {host[1]}" if host else "",
                status=status[1] if status else "unknown",
                **found.groupdict(),
            )
            return EngineError(code, named, hint)
    return None


def bucket_of_a_bare_refusal(error: EngineError) -> str | None:
    """The bucket, if ``error`` is a refusal to which the store gave no reason."""
    said = re.search(rf"the bucket (\S+) {_BARE}\.$", error.message)
    return said[1] if said and error.condition == STORE_DENIED else None
