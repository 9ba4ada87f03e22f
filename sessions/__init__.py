"""A conversation: open, resume, fork, the turn loop, models, tools, background work, export and import."""
