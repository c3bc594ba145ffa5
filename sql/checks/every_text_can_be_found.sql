-- Every text that should be searchable is in the index, and nothing else.
select _search_texts.text_id, 'not in the index' as problem
from _search_texts
left join search_docsize on search_docsize.id = _search_texts.text_id
where search_docsize.id is null
union all
select search_docsize.id, 'no longer a text'
from search_docsize
where search_docsize.id not in (select text_id from _search_texts)
