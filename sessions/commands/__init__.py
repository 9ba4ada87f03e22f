"""Shell commands: those that the person types after ``!``, and those that a model asks to run."""
