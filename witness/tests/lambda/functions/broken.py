"""A consumer whose deployment lacks a module."""

import a_module_that_is_missing  # noqa: F401


def handle(event, context):
    return None
