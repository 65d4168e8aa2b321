"""Members of the language that evalmill knows of and does not run yet.

They are refused by name. Whoever builds one takes it out of the table.
"""

MEMBERS: dict[str, frozenset[str]] = {
    "source": frozenset(
        {
            "claude_code",
            "folder",
            "huggingface",
            "inspect_ai",
            "langsmith",
            "phoenix",
            "url",
        }
    ),
    "config": frozenset(
        {
            "aws_bedrock",
            "azure_foundry",
            "claude_managed_agents",
            "custom_inference",
            "dify",
            "langsmith",
        }
    ),
    "task_specifications": frozenset({"repeatability"}),
}
"""Key that holds the member -> values of its `type`."""

INSTEAD = {
    "repeatability": "write 'repeatability: {num_runs: …}' in the specifications to run again"
}
"""Member -> what to write in its place, where there is something."""

KEYS = frozenset(
    {
        "dataset_generators",
        "generator_specification",
        "policies",
        "repeatability_config",
    }
)
"""Keys that no entity has yet."""
