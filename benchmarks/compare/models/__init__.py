"""Whole models, compared: each module is a program that prints its table."""
