"""Remembering ahead of time, behind the conversation: observer, reflector and dropper (seed 003)."""
