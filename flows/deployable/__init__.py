"""Flows that deployments run: parameters are JSON, samples never are."""
