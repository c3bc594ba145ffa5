-- All that can be found by its words.
select block_id, text
from search_texts
where text is not null
