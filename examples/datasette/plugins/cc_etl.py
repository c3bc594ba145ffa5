"""Datasette plugin of cc-etl, for Datasette 0.65 and 1.0. `cc-etl datasette` writes it."""

import os
import signal
import sys
import threading
import time

from datasette import hookimpl


@hookimpl
def startup(datasette):
    if os.environ.get("CC_ETL_END_WITH_STDIN"):
        threading.Thread(target=end_with_stdin, daemon=True).start()


def end_with_stdin():
    """Ends Datasette when `cc-etl datasette` ends, in whichever way: only that closes the pipe."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    # An open connection delays the end.
    time.sleep(2)
    os._exit(0)
