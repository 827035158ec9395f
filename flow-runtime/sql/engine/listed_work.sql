-- The places of a worker's hand, or of one of its rows, as results without an outcome: only to look the work up.
create or replace function flow.listed_work(p_worker bigint, p_row bigint default null) returns flow.result[]
language plpgsql stable as $$
begin
    return array(
        select row(row_number() over (), u.run_id, u.step_index, u.task_index, u.batch, 'listed', null, null, null, false)::flow.result
        from flow.hand h
        cross join lateral unnest(h.runs, h.steps, h.tasks, h.batches) u(run_id, step_index, task_index, batch)
        where h.worker_id = p_worker and (p_row is null or h.batch = p_row));
end $$;
