-- Give held work back as if it had never been claimed: the work waits again, due at once, and its attempt is not counted. Exhausted work
-- keeps its attempt number, since its claim used no attempt. A suspect stays a suspect with its limit.
-- Returns the queues in which some of the work waits. The caller holds the locks of the work.
create or replace function flow.give_back(p_work flow.work[], p_now timestamptz) returns integer[] language plpgsql as $$
declare
    v_usual flow.work[];
    v_suspect flow.work[];
    v_limits integer[];
    v_queues integer[] := '{}';
begin
    select array_agg(b.work) filter (where b.suspect_limit is null), array_agg(b.work) filter (where b.suspect_limit is not null),
           array_agg(b.suspect_limit) filter (where b.suspect_limit is not null)
    into v_usual, v_suspect, v_limits
    from (
        select row(w.run_id, w.step_index, w.task_index, w.flow_id, w.row_id, w.status, w.queue_id,
                   w.attempt - case when w.is_exhausted then 0 else 1 end, w.worker_id, w.batch, w.claimed_at, w.timeout_ms,
                   false)::flow.work as work, s.suspect_limit
        from unnest(p_work) w
        left join lateral (
            select s.suspect_limit from flow.suspect s
            where s.run_id = w.run_id and s.step_index = w.step_index and s.task_index = w.task_index offset 0
        ) s on true
    ) b;
    if v_usual is not null then
        v_queues := flow.wait_again(v_usual, array_fill(p_now, array[cardinality(v_usual)]), p_now);
    end if;
    if v_suspect is not null then
        v_queues := v_queues || flow.wait_as_suspect(v_suspect, v_limits, p_now);
    end if;
    return v_queues;
end $$;
