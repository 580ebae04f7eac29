"""What is charged and what the SDKs get, once more: through Envoy with keymeter-envoy and examples/envoy/metering.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from front import EnvoyDoor
from programs import Keymeter, Upstream
from test_answers import (
    test_a_body_that_comes_in_chunks,
    test_a_body_that_is_not_streamed_is_passed_on_as_it_is,
    test_a_cost_of_litellm_comes_before_counts,
    test_a_large_body,
    test_a_stream_of_responses_that_ends_at_its_limit,
    test_an_answer_is_charged_by_its_usage,
    test_an_answer_larger_than_what_is_kept,
    test_anthropics_parts_of_the_prompt_are_added_up,
    test_embeddings_have_no_output,
    test_the_sdk_of_anthropic,
    test_the_sdk_of_openai,
    test_usage_is_asked_for_and_nothing_else_changes,
    test_usage_that_never_comes_costs_the_hold,
)
from test_node import (
    test_the_node_sdk_of_anthropic,
    test_the_node_sdk_of_openai,
    test_the_node_sdks_repeat_nothing_that_time_does_not_help,
)
from test_situations import test_forty_at_once_with_quota_for_five

__all__ = [
    "test_a_body_that_comes_in_chunks",
    "test_a_body_that_is_not_streamed_is_passed_on_as_it_is",
    "test_a_cost_of_litellm_comes_before_counts",
    "test_a_large_body",
    "test_a_stream_of_responses_that_ends_at_its_limit",
    "test_an_answer_is_charged_by_its_usage",
    "test_an_answer_larger_than_what_is_kept",
    "test_anthropics_parts_of_the_prompt_are_added_up",
    "test_embeddings_have_no_output",
    "test_forty_at_once_with_quota_for_five",
    "test_the_node_sdk_of_anthropic",
    "test_the_node_sdk_of_openai",
    "test_the_node_sdks_repeat_nothing_that_time_does_not_help",
    "test_the_sdk_of_anthropic",
    "test_the_sdk_of_openai",
    "test_usage_is_asked_for_and_nothing_else_changes",
    "test_usage_that_never_comes_costs_the_hold",
]


@pytest.fixture(scope="module")
def front(folder: Path, upstream: Upstream, keymeter: Keymeter) -> Iterator[EnvoyDoor]:
    """In place of the front, for the tests of this file."""
    door = EnvoyDoor(folder, keymeter.url, keymeter.credential, upstream.url)
    door.start()
    yield door
    door.stop()
