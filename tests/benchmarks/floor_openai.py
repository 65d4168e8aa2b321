"""The floor: the same calls from a bare asyncio loop over the openai client."""

import argparse
import asyncio

from openai import AsyncOpenAI, DefaultAioHttpClient

from tests.benchmarks.workload import MODEL, answer, question


async def ask_all(base_url: str, samples: int, workers: int) -> int:
    """Ask every sample once from `workers` loops; return how many answers are right."""
    numbers = iter(range(samples))
    right = 0

    async def work(client: AsyncOpenAI) -> None:
        nonlocal right
        for number in numbers:
            reply = await client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": question(number)}]
            )
            right += reply.choices[0].message.content == answer(number)

    async with (
        DefaultAioHttpClient() as http_client,
        AsyncOpenAI(base_url=base_url, api_key="none-needed", http_client=http_client) as client,
    ):
        await asyncio.gather(*(work(client) for _ in range(workers)))
    return right


def main() -> None:
    """Run the loop as a process, to be measured whole."""
    parser = argparse.ArgumentParser()
    parser.add_argument("base_url")
    parser.add_argument("samples", type=int)
    parser.add_argument("workers", type=int)
    options = parser.parse_args()
    right = asyncio.run(ask_all(options.base_url, options.samples, options.workers))
    print(f"{right} of {options.samples} right")
    assert right == options.samples


if __name__ == "__main__":
    main()
