"""Collecting human ratings: tasks from texts, a project file, a web app for annotators and one for who runs it."""
