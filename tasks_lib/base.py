"""What every definition model shares."""

from pydantic import BaseModel, ConfigDict


class Definition(BaseModel):
    """A frozen piece of what may be written in YAML.

    Fields are exactly the keys of the YAML; what a member needs at run time arrives as
    method arguments. Unknown keys are errors.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )
