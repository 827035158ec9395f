-- Count the steps that have ended down in their runs, and complete those that have none left: what every call that ends steps does
-- last. Returns what the call has brought about in all. The caller holds the runs' locks.
create or replace function flow.count_down_runs(p_progress flow.progress, p_now timestamptz)
returns flow.progress language plpgsql as $$
begin
    if cardinality(p_progress.ended_steps) > 0 then
        p_progress.ended_runs := p_progress.ended_runs || flow.complete_runs(p_progress.ended_steps, p_now);
    end if;
    return p_progress;
end $$;
