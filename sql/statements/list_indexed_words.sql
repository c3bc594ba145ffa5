-- Every word of the full-text index, with the block and the place in it.
select term, doc, "offset"
from temp.indexed_words
