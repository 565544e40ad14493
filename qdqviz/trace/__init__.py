"""What happened while passes ran: the one artefact that every view is made from. No torch here."""
