-- Lines = messages + copies + events + history prompts + rejected + blank, in every file.
select path, generation, difference
from import_accounting
where difference <> 0
