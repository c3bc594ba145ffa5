select value
from settings
where setting = ?1;
