-- Every text that should be searchable is in the index, and nothing else.
select _search_texts.block_id, 'not in the index' as problem
from _search_texts
left join search_docsize on search_docsize.id = _search_texts.block_id
where _search_texts.text is not null and search_docsize.id is null
union all
select search_docsize.id, 'no longer a text'
from search_docsize
left join _search_texts on _search_texts.block_id = search_docsize.id
where _search_texts.text is null
