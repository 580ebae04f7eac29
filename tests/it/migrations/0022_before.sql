-- An installation from before deleted tokens could be restored.
select 1;
