"""MuPDF and images: open, survey, render. MuPDF itself only ever runs in a child process."""
