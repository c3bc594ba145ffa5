delete from model_prices
where model = ?1 and valid_from = ?2 and origin = 'user'
