"""Reading a reply no further than a model's answer can reach, compressed or not."""

import zlib
from typing import Any

from tasks_lib.models.connections.base import CallFailure

MAX_REPLY = 64 << 20
"""Bytes of a reply, unpacked; a longer one is no answer, and would fill the memory."""


async def bound_reply(response: Any) -> None:
    """Read the body of a reply whose size nothing bounds, unpacked, and put it in its place.

    To be called before the client reads the body. Requests accept gzip alone, so what calls
    itself otherwise encoded is read as it is.

    Args:
        response: of httpx2.

    Raises:
        CallFailure: the body is too long; or is no gzip although it says so, retryable.
    """
    headers = response.headers
    encoding = headers.pop("content-encoding", "").strip().lower()
    length = headers.get("content-length", "")
    if not encoding and length.isdecimal() and int(length) <= MAX_REPLY:
        return  # the transport holds it to that
    import httpx2

    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
    body = bytearray()
    try:
        async for packed in response.stream:
            body += unpacker.decompress(packed, MAX_REPLY + 1 - len(body)) if unpacker else packed
            if len(body) > MAX_REPLY:
                raise CallFailure("model", f"the reply has more than {MAX_REPLY:,} bytes")
        if unpacker and not unpacker.eof:
            raise zlib.error("it is cut off")
    except zlib.error as error:
        raise CallFailure(
            "infra", f"the reply can't be unpacked: {error}", retryable=True
        ) from None
    await response.stream.aclose()
    response.stream = httpx2.ByteStream(bytes(body))
