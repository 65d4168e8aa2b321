"""What may be written in YAML, one module per entity; import from the modules.

`run_file` and `evaluation` name `task`, `dataset`, `model` and `adapter`; `parameters` are what a
task's config may hold, made of `scalars`; `keys` are those entities are known by; `price` is a
model's.
"""
