"""Two traces of the same model side by side: what one does that the other does not. No torch."""
