"""How true the text is: Quire without a key beside tesseract, PyMuPDF and pymupdf4llm."""
