"""Writes programs to files, and reads them back before it says so."""
