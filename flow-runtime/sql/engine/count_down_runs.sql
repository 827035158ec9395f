-- Subtract the ended steps of p_progress from their runs, and end the runs that have none left. Every call that ends steps does this last.
-- Returns p_progress with the runs that ended added. The caller holds the runs' locks.
create or replace function flow.count_down_runs(p_progress flow.progress, p_now timestamptz)
returns flow.progress language plpgsql as $$
begin
    if cardinality(p_progress.ended_steps) > 0 then
        p_progress.ended_runs := p_progress.ended_runs || flow.complete_runs(p_progress.ended_steps, p_now);
    end if;
    return p_progress;
end $$;
