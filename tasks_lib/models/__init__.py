"""Models: how they are reached, limited, retried and remembered."""
