"""Hooks of Schemathesis: give requests of gateways an API key that exists, so that they reach the ledger."""

import os

import schemathesis


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("key"), str) and len(body["key"]) % 2 == 0:
        body["key"] = os.environ["KEYMETER_TEST_KEY"]
    return body
