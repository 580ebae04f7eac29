-- From here on, an entry of `model_limits` that ends in `*` is a pattern. Entries of before meant the character itself and
-- matched no real model: they still do, as `\*`. `version` shows servers that a remembered list has changed.
update tokens set model_limits = replace(model_limits, '*', '\*'), version = version + 1
where position('*' in model_limits) > 0;
