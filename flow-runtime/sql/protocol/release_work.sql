-- Give back work that worker p_worker has claimed and not used: the work waits again, due at once, and the attempt is not counted. The
-- worker drains from here on and claims nothing more.
-- Returns for each piece whether the worker held it; a piece that the worker did not hold is not changed. The caller passes p_tell_queues
-- to flow.tell_others.
create or replace function flow.release_work(
    p_worker bigint, p_runs uuid[], p_steps integer[], p_tasks integer[], p_batches bigint[],
    out p_held boolean[], out p_tell_queues integer[]
) language plpgsql set lock_timeout = '10s' as $$
declare
    v_results flow.result[];
    v_now timestamptz;
    v_held flow.work[];
begin
    v_results := flow.lock_runs(flow.read_results(
        p_runs, p_steps, p_tasks, p_batches, array_fill('released'::text, array[cardinality(p_runs)]), null, null, null), true);
    v_now := clock_timestamp();
    v_held := flow.lock_held(p_worker, v_results);
    if cardinality(v_held) > 0 then
        p_tell_queues := flow.give_back(v_held, v_now);
    end if;
    update flow.worker w set draining_at = clock_timestamp()
    where w.worker_id = p_worker and w.draining_at is null;
    p_held := array(
        select (u.run_id, u.step_index, u.task_index, u.batch) in (
            select w.run_id, w.step_index, w.task_index, w.batch from unnest(v_held) w)
        from unnest(p_runs, p_steps, p_tasks, p_batches) with ordinality u(run_id, step_index, task_index, batch, ord)
        order by u.ord);
end $$;
