select exists (select from tokens where model_limits = 'gpt-4o,foo\*' and version = 8);
