"""Reply bodies of the Responses API."""

import json
from collections.abc import Iterator, Mapping

from tests.fake_openai.config import CREATED, Json
from tests.fake_openai.replies import Answer
from tests.fake_openai.wire import pieces


def response_object(request: Mapping[str, Json], rid: str, answer: Answer) -> dict[str, Json]:
    """A Responses API object, with every field that the specification requires."""
    get = request.get
    return {
        "id": f"resp_{rid}",
        "object": "response",
        "created_at": CREATED,
        "completed_at": CREATED,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": get("instructions"),
        "max_output_tokens": get("max_output_tokens"),
        "max_tool_calls": get("max_tool_calls"),
        "metadata": get("metadata") or {},
        "model": get("model", ""),
        "output": _output(rid, answer),
        "parallel_tool_calls": get("parallel_tool_calls", True),
        "previous_response_id": get("previous_response_id"),
        "presence_penalty": get("presence_penalty", 0),
        "frequency_penalty": get("frequency_penalty", 0),
        "prompt_cache_key": get("prompt_cache_key"),
        "reasoning": get("reasoning") or {"effort": None, "summary": None},
        "safety_identifier": get("safety_identifier"),
        "service_tier": "default",
        "store": get("store", False),
        "temperature": get("temperature", 1.0),
        "text": get("text") or {"format": {"type": "text"}},
        "tool_choice": get("tool_choice", "auto"),
        "tools": get("tools") or [],
        "top_logprobs": get("top_logprobs", 0),
        "top_p": get("top_p", 1.0),
        "truncation": get("truncation", "disabled"),
        "usage": {
            "input_tokens": answer.tokens[0],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.tokens[1],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sum(answer.tokens),
        },
    }


def _output(rid: str, answer: Answer) -> list[Json]:
    output: list[Json] = []
    if answer.text is not None:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        output.append(
            {
                "id": f"msg_{rid}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for i, (name, arguments) in enumerate(answer.calls):
        output.append(
            {
                "id": f"fc_{rid}_{i}",
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{rid}_{i}",
                "name": name,
                "arguments": arguments,
            }
        )
    return output


def response_events(final: dict[str, Json]) -> Iterator[bytes]:
    """The SSE events of a Responses stream that ends in `final`."""
    number = -1

    def event(kind: str, **fields: Json) -> bytes:
        nonlocal number
        number += 1
        data = json.dumps({"type": kind, "sequence_number": number, **fields})
        return f"event: {kind}\ndata: {data}\n\n".encode()

    begun = {**final, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(final["output"]):
        at = {"item_id": item["id"], "output_index": index}
        empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
        open_item = {**item, "status": "in_progress", **empty}
        yield event("response.output_item.added", output_index=index, item=open_item)
        if item["type"] == "message":
            part = item["content"][0]
            at["content_index"] = 0
            yield event("response.content_part.added", **at, part={**part, "text": ""})
            for piece in pieces(part["text"]):
                yield event("response.output_text.delta", **at, delta=piece, logprobs=[])
            yield event("response.output_text.done", **at, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **at, part=part)
        else:
            arguments = item["arguments"]
            yield event("response.function_call_arguments.delta", **at, delta=arguments)
            yield event(
                "response.function_call_arguments.done",
                **at,
                name=item["name"],
                arguments=arguments,
            )
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=final)
    yield b"data: [DONE]\n\n"
