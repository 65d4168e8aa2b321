"""A plan's explanation as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.plan.prices import HOW_TO_PRICE, usd
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
    yield from _cost_lines(plan)
    for warning in plan["warnings"]:
        yield f"warning: {warning}"


def _spec_lines(spec: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {spec['key']}"
    if spec["batches"]:
        datasets = ", ".join(spec["datasets"].values())
        on = f"{spec['samples']:,} samples of {datasets}{_times(spec)}"
        yield f"    task {spec['task']} on {on}"
    else:
        yield f"    task {spec['task']}, which has no samples"
    yield from _calls_lines(spec)
    yield from (_cost_line(cost) for cost in spec["costs"] if cost["least_usd"])
    size = spec["batch_size"]
    if size:
        yield f"    {spec['batches']:,} batches of {size:,} sample{'s' if size > 1 else ''}"
    yield f"    scorers: {', '.join(spec['scorers']) or 'none'}"
    if spec["config"]:
        yield f"    config: {printable(dumps(spec['config']))}"
    for prompt in spec["prompts"]:
        yield from _prompt_lines(prompt)


def _times(spec: Mapping[str, Any]) -> str:
    if spec["runs"] > 1:
        return f", in {spec['runs']:,} runs (repeatability)"
    return f", in {spec['trials']:,} trials each" if spec["trials"] > 1 else ""


def _calls_lines(spec: Mapping[str, Any]) -> Iterator[str]:
    if not spec["calls"]:
        yield "    no model calls"
    notes = [f"{spec['concurrency']} at a time"]
    if spec["estimate_covers"] is not None:
        about = "about" if spec["estimate_covers"] == "all calls" else "first prompts about"
        notes.append(f"{about} {spec['estimated_input_tokens']:,} tokens")
    for model, calls in spec["calls"].items():
        own = f", {', '.join(notes)}" if model == (spec["model"] or model) else ""
        one = calls["most"] == 1
        yield f"    {_range(calls)} call{'' if one else 's'} of {model}{own}"


def _range(calls: Mapping[str, Any]) -> str:
    least, most = calls["least"], calls["most"]
    if most is None:
        return f"{least:,} or more" if least else "any number of"
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _cost_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    """What the whole will cost; nothing where nobody is paid."""
    if plan["unpriced"]:
        names = ", ".join(f"'{key}'" for key in plan["unpriced"])
        yield f"estimated cost: unknown, there is no price for model {names}; {HOW_TO_PRICE}"
        return
    costs = plan["estimated_cost_usd"]
    if costs is None:
        yield "estimated cost: unknown, not all prompts can be foretold"
    elif costs["most"] != 0:
        yield f"estimated cost: {_usd_range(costs['least'], costs['most'])}, less what is recorded"


def _cost_line(cost: Mapping[str, Any]) -> str:
    caller = cost["caller"].removeprefix("scorer:")
    who = cost["model"] if caller == "solver" else f"{cost['model']} in scorer {caller}"
    if cost["reply_tokens_from"] == "limit":
        replies = f"replies of {cost['reply_tokens']:,} tokens, the most there may be"
    else:
        replies = f"replies taken for {cost['reply_tokens']:,} tokens"
    amount = _usd_range(cost["least_usd"], cost["most_usd"])
    return f"    {amount} for {who}: first prompts of {cost['prompt_tokens']:,} tokens, {replies}"


def _usd_range(least: float, most: float | None) -> str:
    if most is None:
        return f"{usd(least)} or more"
    return f"about {usd(most)}" if least == most else f"about {usd(least)} to {usd(most)}"


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
