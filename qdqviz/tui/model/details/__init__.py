"""What the details tabs say, as lines of text."""
