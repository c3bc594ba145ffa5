"""What Superset needs to read a cc-etl database; everything else is its default."""

import os

# Signs the session cookies; `openssl rand -base64 42` makes one.
SECRET_KEY = os.environ["SUPERSET_SECRET_KEY"]

# Superset refuses SQLite by default, because a user who may add databases could open any file of the server with it.
# So let only people add databases whom you would let read the server's files.
PREVENT_UNSAFE_DB_CONNECTIONS = False
