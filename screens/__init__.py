"""The face for people: Textual screens, widgets and styles. Draws; decides nothing."""
