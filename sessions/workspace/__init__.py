"""What may be read of the folder that a person works in: tools for the model, and files that the person attaches."""
