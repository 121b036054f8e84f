"""Plays AWS and its machines on this one, so that everything but the machines themselves can be tested."""
