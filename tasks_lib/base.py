"""What every definition model shares."""

from pydantic import BaseModel, ConfigDict

KeyPath = tuple[str | int, ...]
"""Keys and list positions from the root of a tree of YAML values to one of them."""


class Definition(BaseModel):
    """A frozen piece of what may be written in YAML.

    Fields are exactly the keys of the YAML; what a member needs at run time arrives as
    method arguments. Unknown keys are errors.
    """

    # Built at first use and described by `schema` alone: every command pays for the import.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)
