-- Return the work that a worker's hand lists, or that one row of the hand lists (p_row), as results without an outcome: the form that
-- flow.look_at_work and flow.lock_runs take.
create or replace function flow.listed_work(p_worker bigint, p_row bigint default null) returns flow.result[]
language plpgsql stable as $$
begin
    return array(
        select row(row_number() over (), u.run_id, u.step_index, u.task_index, u.batch, 'listed', null, null, null, false)::flow.result
        from flow.hand h
        cross join lateral unnest(h.runs, h.steps, h.tasks, h.batches) u(run_id, step_index, task_index, batch)
        where h.worker_id = p_worker and (p_row is null or h.batch = p_row));
end $$;
