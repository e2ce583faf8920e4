"""What `starter.py` shows and asks: sessions with Temporal, live views, reports."""
