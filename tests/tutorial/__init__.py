"""Tests of the textbook's system."""
