"""What may be written in YAML, one module per entity; import from the modules."""
