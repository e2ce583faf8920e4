"""MuPDF and images: open, survey, draw; always in a child process."""
