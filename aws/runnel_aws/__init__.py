"""Experiments on machines in AWS regions: starts them, runs the experiment on them, ends them."""
