"""Tests of `engine`: no mocks, tables of inputs and results, properties over whole games."""
