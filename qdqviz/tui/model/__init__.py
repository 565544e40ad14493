"""What the terminal shows, as data: built and tested without a terminal."""
