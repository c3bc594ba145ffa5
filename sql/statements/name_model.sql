insert into model_aliases (model_name, model, origin)
values (?1, priced_model(?1), 'builtin')
on conflict (model_name) do nothing
