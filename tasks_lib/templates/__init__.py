"""Templates: the only door to Jinja; sandboxed, strict, bounded in work and size."""

from tasks_lib.templates.nulls import noting_nulls
from tasks_lib.templates.templates import Template, TemplateSource, compile_template, literal

__all__ = ["Template", "TemplateSource", "compile_template", "literal", "noting_nulls"]
