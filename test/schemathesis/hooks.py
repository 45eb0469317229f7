"""What the OpenAPI document can't say, so that Schemathesis must not take it for a contradiction."""

import atexit
import json
import os
from collections import Counter

import schemathesis

requests = Counter()


@schemathesis.hook
def after_call(context, case, response):
    requests[case.operation.label] += 1


@atexit.register
def report_requests():
    with open(os.environ["REQUESTS"], "w", encoding="utf-8") as file:
        json.dump(requests, file)


def is_whole_float(value):
    return isinstance(value, float) and value.is_integer()


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """False for the few answers that are right although a check takes them for wrong."""
    kind = type(failure).__name__
    if kind == "UnsupportedMethodResponse":
        # API Gateway has no route for such a method: 404, or 400 where it takes the Bearer token for a malformed
        # signature (DataBiosphere/azul#7470).
        return case.method not in ("TRACE", "QUERY") or response.status_code not in (400, 404)
    if kind != "RejectedPositiveData":
        return True
    # No refusal: the client has the animal already.
    if response.status_code == 304:
        return False
    error = response.json()
    # No schema knows which keys came before with another animal.
    if error["code"] == "idempotency_key_reused":
        return False
    # A cursor is opaque: only the service knows which ones it has given.
    if error["message"] == "cursor is not one that this list has given.":
        return False
    # To JSON Schema 1.0 is an integer; the document says in words that it must be written as 1.
    return not (isinstance(case.body, dict) and is_whole_float(case.body.get("categoryId")))
