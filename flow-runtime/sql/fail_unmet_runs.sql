-- Fail runs because a condition with `when_unmet = fail` is not met. Returns the workers to tell.
-- The caller holds the runs' locks.
create or replace function flow.fail_unmet_runs(p_runs uuid[], p_steps integer[], p_now timestamptz)
returns bigint[] language sql as $$
    select flow.end_runs(p_runs, 'failed', p_steps, array_fill('condition not met'::text, array[cardinality(p_runs)]),
                         p_now)
$$;
