"""The stand-in vendor, PDFs, clusters and the tool as a process: for tests and benchmarks."""
