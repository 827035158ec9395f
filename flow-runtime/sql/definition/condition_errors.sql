-- List what is wrong with the conditions and modes of one step of a shape, a text for each mistake. p_names are the slugs of the step's
-- dependencies.
create or replace function flow.condition_errors(p_slug text, p_step jsonb, p_names text[])
returns text[] language sql immutable as $$
    select array(
        select format('step "%s": when_unmet "%s" is not skip, skip_cascade or fail', p_slug, p_step ->> 'when_unmet')
        where p_step ->> 'when_unmet' not in ('skip', 'skip_cascade', 'fail')
        union all
        select format('step "%s": when_exhausted "%s" is not skip, skip_cascade or fail', p_slug,
                      p_step ->> 'when_exhausted')
        where coalesce(p_step ->> 'when_exhausted', '') not in ('skip', 'skip_cascade', 'fail')
        union all
        select format('step "%s" must say when_unmet exactly when it has a condition', p_slug)
        where (p_step ->> 'when_unmet' is not null) <> (p_step ? 'run_if' or p_step ? 'run_unless')
        union all
        select format('step "%s": %s must be an object with the slugs of its dependencies as keys', p_slug, c.name)
        from (values ('run_if'), ('run_unless')) c(name)
        where cardinality(p_names) > 0 and p_step ? c.name and jsonb_typeof(p_step -> c.name) <> 'object'
        union all
        select format('step "%s": %s speaks of "%s", which is not a dependency of the step', p_slug, c.name, k.key)
        from (values ('run_if'), ('run_unless')) c(name)
        cross join lateral jsonb_object_keys(
            case when jsonb_typeof(p_step -> c.name) = 'object' then p_step -> c.name else '{}' end) k(key)
        where cardinality(p_names) > 0 and k.key <> all (p_names)
    )
$$;
