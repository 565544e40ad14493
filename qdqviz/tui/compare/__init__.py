"""Two traces side by side in the terminal: the stepping screen with left and right as before and after."""
