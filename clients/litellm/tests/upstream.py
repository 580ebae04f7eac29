"""A provider that does what the request says: the last text is a JSON object.

{"prompt_tokens", "completion_tokens": the usage it reports, "wait": seconds before the answer, "slow_first": only so many
 requests with the same "id" wait, "delay": seconds before each chunk, "chunks": of a stream, "pause_after": chunks after which
 it sends nothing for "pause" seconds, "break_after": chunks after which the connection breaks, "status": an error,
 "fail_first": so many requests with the same "id" fail, "fail_later": the others fail, "fail_models": these models fail,
 "cached_tokens" and "cache_write_tokens": parts of the prompt, "usage": false for none, "cost": in dollars, as OpenRouter says
 it, "answer_model": which one answered, "headers": of the answer, "padding": bytes that are added to it, "incomplete": a stream
 of Responses that ends at its limit, "error_after": chunks after which a stream says that it failed}

python upstream.py PORT
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

calls: Counter[str] = Counter()
# The request with this "id": its headers, its query and its body as text.
requests: dict[str, dict[str, Any]] = {}


class Broken(Exception):
    """Ends the connection without an end of the answer."""


def plan_of(body: dict[str, Any]) -> dict[str, Any]:
    text = body.get("input") or body.get("prompt") or body.get("query") or ""
    if body.get("messages"):
        text = body["messages"][-1]["content"]
    if body.get("contents"):
        text = body["contents"][-1]["parts"]
    while isinstance(text, list):
        text = text[-1]
    while isinstance(text, dict):
        text = text.get("text") or text.get("content")
        while isinstance(text, list):
            text = text[-1]
    try:
        plan = json.loads(text)
    except (TypeError, ValueError):
        plan = {}
    return {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "wait": 0,
        "delay": 0,
        "chunks": 5,
        **(plan if isinstance(plan, dict) else {}),
    }


async def begin(request: Request) -> tuple[dict[str, Any], dict[str, Any], Response | None]:
    if request.headers.get("content-type", "").startswith("multipart/"):
        form = await request.form()
        body: dict[str, Any] = {name: value for name, value in form.items() if isinstance(value, str)}
        text = ""
    else:
        text = (await request.body()).decode()
        body = json.loads(text)
    plan = plan_of(body)
    calls[str(body.get("model"))] += 1
    before = calls[f"id {plan.get('id')}"]
    failing = before < plan.get("fail_first", 0) or (before > 0 and "fail_later" in plan)
    if "id" in plan:
        calls[f"id {plan['id']}"] += 1
        requests[plan["id"]] = {
            "headers": dict(request.headers),
            "query": request.url.query,
            "http_version": request.scope["http_version"],
            "body": text,
            "form": None if text else list(body),
        }
    refusal = None
    if failing or "status" in plan or body.get("model") in plan.get("fail_models", ()):
        status = plan.get("status", 500)
        error = {"message": "as planned", "type": "planned", "code": "planned"}
        refusal = JSONResponse({"error": error, "type": "error"}, status)
    if before < plan.get("slow_first", before + 1):
        await asyncio.sleep(plan["wait"])
    return body, plan, refusal


def usage(plan: dict[str, Any]) -> dict[str, Any]:
    """Of OpenAI's chat."""
    prompt, completion = plan["prompt_tokens"], plan["completion_tokens"]
    count = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    if "cached_tokens" in plan:
        count["prompt_tokens_details"] = {"cached_tokens": plan["cached_tokens"]}
    if "cost" in plan:
        count["cost"] = plan["cost"]
    return count


def whole(plan: dict[str, Any], answer: dict[str, Any]) -> Response:
    if not plan.get("usage", True):
        answer.pop("usage")
    if "padding" in plan:
        answer = {"padding": "x" * plan["padding"], **answer}
    return JSONResponse(answer, headers=plan.get("headers"))


async def events(plan: dict[str, Any], pieces: list[tuple[str | None, object]]) -> AsyncIterator[str]:
    for index, (event, data) in enumerate(pieces):
        if index >= plan.get("break_after", len(pieces)):
            raise Broken
        if index >= plan.get("error_after", len(pieces)):
            yield 'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "as planned"}}\n\n'
            return
        await asyncio.sleep(plan["pause"] if index == plan.get("pause_after") else plan["delay"])
        text = data if isinstance(data, str) else json.dumps(data)
        yield (f"event: {event}\n" if event else "") + f"data: {text}\n\n"


def stream(plan: dict[str, Any], pieces: list[tuple[str | None, object]]) -> Response:
    return StreamingResponse(events(plan, pieces), media_type="text/event-stream")


async def chat(request: Request) -> Response:
    body, plan, refusal = await begin(request)
    if refusal is not None:
        return refusal
    base = {"id": "chatcmpl-1", "created": 1, "model": plan.get("answer_model", body["model"])}
    if not body.get("stream"):
        message = {"role": "assistant", "content": "hello"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {**base, "object": "chat.completion", "choices": [choice] * (body.get("n") or 1), "usage": usage(plan)}
        return whole(plan, answer)
    chunk = {**base, "object": "chat.completion.chunk"}
    pieces: list[tuple[str | None, object]] = [
        (None, {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "word "}, "finish_reason": None}]})
        for _ in range(plan["chunks"])
    ]
    pieces.append((None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    if (body.get("stream_options") or {}).get("include_usage") and plan.get("usage", True):
        pieces.append((None, {**chunk, "choices": [], "usage": usage(plan)}))
    return stream(plan, [*pieces, (None, "[DONE]")])


async def completions(request: Request) -> Response:
    body, plan, refusal = await begin(request)
    choice = {"index": 0, "text": "hello", "finish_reason": "stop", "logprobs": None}
    answer = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": body["model"], "choices": [choice]}
    if body.get("stream") and refusal is None:
        pieces: list[tuple[str | None, object]] = [(None, answer)] * plan["chunks"]
        if (body.get("stream_options") or {}).get("include_usage"):
            pieces.append((None, {**answer, "choices": [], "usage": usage(plan)}))
        return stream(plan, [*pieces, (None, "[DONE]")])
    return refusal or JSONResponse({**answer, "usage": usage(plan)})


async def embeddings(request: Request) -> Response:
    body, plan, refusal = await begin(request)
    data = [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}]
    count = {"prompt_tokens": plan["prompt_tokens"], "total_tokens": plan["prompt_tokens"]}
    return refusal or JSONResponse({"object": "list", "model": body["model"], "data": data, "usage": count})


async def responses(request: Request) -> Response:
    body, plan, refusal = await begin(request)
    if refusal is not None:
        return refusal
    prompt, completion = plan["prompt_tokens"], plan["completion_tokens"]
    text = {"type": "output_text", "text": "hello", "annotations": []}
    item = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [text]}
    answer = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": body["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": prompt,
            "output_tokens": completion,
            "total_tokens": prompt + completion,
            "input_tokens_details": {"cached_tokens": plan.get("cached_tokens", 0)},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }
    if not body.get("stream"):
        return whole(plan, answer)
    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    kinds: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    kinds += [
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": "word "}
        for _ in range(plan["chunks"])
    ]
    end = "incomplete" if plan.get("incomplete") else "completed"
    kinds.append({"type": f"response.{end}", "response": {**answer, "status": end}})
    return stream(plan, [(kind["type"], {**kind, "sequence_number": number}) for number, kind in enumerate(kinds)])


async def messages(request: Request) -> Response:
    body, plan, refusal = await begin(request)
    if refusal is not None:
        return refusal
    completion = plan["completion_tokens"]
    # Without what the cache gave and what was written to it.
    parts = {"cache_read_input_tokens": "cached_tokens", "cache_creation_input_tokens": "cache_write_tokens"}
    cache = {name: plan[part] for name, part in parts.items() if part in plan}
    prompt = plan["prompt_tokens"] - sum(cache.values())
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, **cache, "output_tokens": completion},
    }
    if not body.get("stream"):
        return whole(plan, answer)
    begun = {**answer, "content": [], "stop_reason": None, "usage": {"input_tokens": prompt, **cache, "output_tokens": 1}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    kinds: list[dict[str, Any]] = [{"type": "message_start", "message": begun}, block]
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}}
    kinds += [delta] * plan["chunks"]
    kinds.append({"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    kinds.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": completion}})
    kinds.append({"type": "message_stop"})
    return stream(plan, [(kind["type"], kind) for kind in kinds])


async def generate_content(request: Request) -> Response:
    _, plan, refusal = await begin(request)
    prompt, completion = plan["prompt_tokens"], plan["completion_tokens"]
    candidate = {"content": {"role": "model", "parts": [{"text": "hello"}]}, "index": 0}
    count = {"promptTokenCount": prompt, "candidatesTokenCount": completion, "totalTokenCount": prompt + completion}
    begun = {"candidates": [candidate], "modelVersion": "gemini"}
    answer = {**begun, "candidates": [{**candidate, "finishReason": "STOP"}], "usageMetadata": count}
    if request.url.path.endswith(":streamGenerateContent"):
        return refusal or stream(plan, [(None, begun)] * plan["chunks"] + [(None, answer)])
    return refusal or JSONResponse(answer)


async def images(request: Request) -> Response:
    body, _, refusal = await begin(request)
    return refusal or JSONResponse({"created": 1, "data": [{"b64_json": "aGVsbG8="}] * int(body.get("n") or 1)})


async def speech(request: Request) -> Response:
    _, _, refusal = await begin(request)
    return refusal or Response(b"sound", media_type="audio/mpeg")


async def transcriptions(request: Request) -> Response:
    body, _, refusal = await begin(request)
    answer: dict[str, Any] = {"text": "hello"}
    # The prompt of a transcription says what it is about.
    if "counted" in body.get("prompt", ""):
        answer["usage"] = {"type": "duration", "seconds": 2}
    return refusal or JSONResponse(answer)


async def input_tokens(request: Request) -> Response:
    return JSONResponse({"object": "response.input_tokens", "input_tokens": 3})


async def moderations(request: Request) -> Response:
    body, _, refusal = await begin(request)
    result = {"flagged": False, "categories": {}, "category_scores": {}}
    return refusal or JSONResponse({"id": "modr-1", "model": body.get("model") or "", "results": [result]})


async def rerank(request: Request) -> Response:
    _, _, refusal = await begin(request)
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return refusal or JSONResponse({"id": "rr-1", "results": [{"index": 0, "relevance_score": 0.9}], "meta": meta})


async def counts(request: Request) -> Response:
    return JSONResponse(dict(calls))


async def request_of(request: Request) -> Response:
    return JSONResponse(requests[request.path_params["id"]])


async def models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [{"id": "chat", "object": "model", "created": 1, "owned_by": "nobody"}]})


routes = [
    Route("/v1/chat/completions", chat, methods=["POST"]),
    Route("/v1/completions", completions, methods=["POST"]),
    Route("/v1/embeddings", embeddings, methods=["POST"]),
    Route("/v1/responses", responses, methods=["POST"]),
    Route("/v1/responses/input_tokens", input_tokens, methods=["POST"]),
    Route("/v1/messages", messages, methods=["POST"]),
    Route("/v1/images/generations", images, methods=["POST"]),
    Route("/v1/images/edits", images, methods=["POST"]),
    Route("/v1/audio/speech", speech, methods=["POST"]),
    Route("/v1/audio/transcriptions", transcriptions, methods=["POST"]),
    Route("/v1/moderations", moderations, methods=["POST"]),
    Route("/v2/rerank", rerank, methods=["POST"]),
    Route("/v1/rerank", rerank, methods=["POST"]),
    Route("/{path:path}:generateContent", generate_content, methods=["POST"]),
    Route("/{path:path}:streamGenerateContent", generate_content, methods=["POST"]),
    Route("/v1/models", models),
    Route("/calls", counts),
    Route("/requests/{id}", request_of),
]

app = Starlette(routes=routes)

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
