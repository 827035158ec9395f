-- Return the work that the worker was handed under number p_batch and still holds, as claims, like the call that handed it out.
create or replace function flow.listed_claims(p_worker bigint, p_batch bigint) returns flow.claim[] language plpgsql stable as $$
begin
    return (
        select array_agg(row(w.run_id, w.step_index, w.task_index, w.attempt, i.item, w.timeout_ms, w.is_exhausted)::flow.claim)
        -- Work that failed and was claimed again is listed under two batches; only one of them is p_batch.
        from unnest(flow.look_at_work(array(
            select l from unnest(flow.listed_work(p_worker)) l where l.batch = p_batch order by l.ord))) w
        left join lateral (
            select t.item from flow.task t
            where t.run_id = w.run_id and t.step_index = w.step_index and t.task_index = w.task_index offset 0
        ) i on true
        where w.status = 'started' and w.worker_id = p_worker and w.batch = p_batch);
end $$;
