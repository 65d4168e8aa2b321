"""Flows that deployments run, and how they are deployed.

Parameters are JSON; samples, traces and secrets never are parameters.
"""
