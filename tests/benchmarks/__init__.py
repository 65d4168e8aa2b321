"""What evalmill costs, measured beside what the same work costs at least.

`python -m tests.benchmarks` runs all of them and prints one table; it judges nothing.
"""
