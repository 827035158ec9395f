-- Join two parts of a call's progress into one.
create or replace function flow.join_progress(p_one flow.progress, p_other flow.progress)
returns flow.progress language plpgsql immutable as $$
begin
    return row(p_one.ended_steps || p_other.ended_steps, p_one.ended_runs || p_other.ended_runs,
               p_one.queues || p_other.queues, p_one.workers || p_other.workers,
               p_one.handed || p_other.handed)::flow.progress;
end $$;
