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
}
"""Key that holds the member -> values of its `type`."""

KEYS = frozenset(
    {
        "dataset_generators",
        "generator_specification",
        "policies",
    }
)
"""Keys that no entity has yet."""
