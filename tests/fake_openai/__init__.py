"""A fast, deterministic stand-in for an OpenAI-compatible model server.

For tests and benchmarks on one machine: no model, no network, no dependencies (uvloop is
used when it is installed). One process serves well over 5,000 requests per second on one
core, so that what is measured is the client.

    python -m tests.fake_openai --port 8399
    python -m tests.fake_openai --port 0 --latency-ms 200 --jitter 0.5
    python -m tests.fake_openai --fault-rate 0.1 --faults 429:2,500,reset --seed 7

The first line on standard output is `listening on http://HOST:PORT/v1` (`--port 0` takes a
free port). The process ends on SIGTERM or SIGINT. In a test:

    with serve_in_thread(Config(latency_ms=5)) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="x")

Endpoints:
    POST /v1/chat/completions   Chat Completions; `"stream": true` gives SSE
    POST /v1/responses          Responses / Open Responses; also with SSE
    GET  /v1/models             the configured model names
    GET  /stats                 counters as JSON, see `Stats`
    POST /reset                 zeroes the counters and answers the old ones; an optional
                                JSON object changes fields of `Config`

Every reply is a function of the request (and `--seed`), byte for byte, so a test knows it
beforehand. "Prompt" is the text of the last user message; "the text" is that of all messages
with the system prompt or `instructions`. The first rule that fits decides:

1.  Tools are offered and the prompt contains `CALL <name>` with an offered name, and no tool
    result follows the prompt yet: one call for each match, in one turn. Arguments are
    `CALL <name> {json}`'s, else a minimal instance of the tool's parameter schema.
    `tool_choice` is honoured.
2.  The text contains `JUDGE`: `correct` or `incorrect`, by a hash of the text;
    `JUDGE[a|b|c]` gives one of these labels instead.
3.  The prompt ends in `ANSWER=<x>`: `<x>`.
4.  Otherwise `OK`.

When a JSON schema is asked for (`response_format` or `text.format`) the reply is a minimal
valid instance; a string in it takes the value of rule 2 or 3 where the schema lets it.
Token counts are `ceil(characters / 4)`.

`--fault-rate P` makes a share P of the requests fail. Whether and how depends on (seed,
request body, how often that same body has arrived), hence neither on the order of arrival nor
on timing, and a retry draws anew. `--fault-attempts N` lets only the first N arrivals of a
body fail. A prompt can ask for a fault: `FAULT=429` (every time) or `FAULT=429*2` (the first
two arrivals). `--max-in-flight N` answers 429 to any request beyond N at a time,
`--max-per-second N` to any beyond N taken in the second before it. The kinds:

    429       rate limited, with `Retry-After` and `retry-after-ms`
    500       server error
    reset     the connection is reset (RST) without a reply
    truncate  headers promise the whole body, half of it comes, then it is closed
    null      200 with `"content": null` (Responses: an empty `output`)
    hang      no reply until the client gives up (or `--hang-s` has passed)

More kinds are drawn only when `--faults` names them, or asked for by a prompt:

    400, 401, 402, 403, 404, 503   an error of that status; `quota` a 429 without end
    html, error                    200 with a page, or with an error object
    nochoices, half, gzip          200 without choices (`output`), with half of the JSON, with
                                   plain JSON that calls itself gzip
    latin1                         an accented letter that is not UTF-8
    empty, nousage, plain, bom     `""` as text; no token counts; `text/plain`; a byte order mark
    filter, cut                    no text, for a filter, or for the token limit
    length                         half of the text, for the token limit
    refusal, thoughts, calls       a refusal, a reasoning, or a tool call instead of text
"""

from tests.fake_openai.config import Config
from tests.fake_openai.running import RunningServer, serve_in_process, serve_in_thread

__all__ = ["Config", "RunningServer", "serve_in_process", "serve_in_thread"]
