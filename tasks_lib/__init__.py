"""The evaluation library: definitions, models, solvers, scorers, metrics and results."""
