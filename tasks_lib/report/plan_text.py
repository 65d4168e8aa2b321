"""A plan's explanation as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.report.text import printable


def plan_text(explanation: Mapping[str, Any]) -> str:
    """Return what `explaining.explain` found, as indented lines."""
    return "\n".join(_lines(explanation))


def _lines(plan: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"evaluation {plan['evaluation']}: {plan['samples']:,} samples, "
        f"up to {plan['batches_at_once']} batches at once, store {plan['store']}"
    )
    for spec in plan["specs"]:
        yield from _spec_lines(spec)
    for warning in plan["warnings"]:
        yield f"warning: {warning}"


def _spec_lines(spec: Mapping[str, Any]) -> Iterator[str]:
    datasets = ", ".join(spec["datasets"].values())
    yield f"  {spec['key']}"
    yield f"    task {spec['task']} on {spec['samples']:,} samples of {datasets}"
    if spec["calls"]:
        yield (
            f"    {spec['calls']:,} calls of {spec['model']}, {spec['concurrency']} at a time, "
            f"about {spec['estimated_input_tokens']:,} prompt tokens"
        )
    else:
        yield "    no model calls"
    size = spec["batch_size"]
    yield f"    {spec['batches']:,} batches of {size:,} sample{'s' if size > 1 else ''}"
    yield f"    scorers: {', '.join(spec['scorers']) or 'none'}"
    if spec["config"]:
        yield f"    config: {printable(dumps(spec['config']))}"
    for prompt in spec["prompts"]:
        yield from _prompt_lines(prompt)


def _prompt_lines(prompt: Mapping[str, Any]) -> Iterator[str]:
    yield f"    sample {printable(prompt['sample_id'])}"
    shown = prompt.get("input", prompt.get("sample"))
    if "error" in prompt:
        yield f"      can't be rendered: {printable(prompt['error'])}"
    elif isinstance(shown, dict) and isinstance(shown.get("messages"), list):
        for message in shown["messages"]:
            text = printable(str(message.get("content")))
            yield f"      {message.get('role')}: " + text.replace("\n", "\n        ")
    else:
        yield f"      {printable(dumps(shown))}"
