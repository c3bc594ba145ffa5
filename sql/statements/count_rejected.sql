select count(*)
from rejected_lines
