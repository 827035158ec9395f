-- Give held work back as if it had never been claimed: it waits again, visible at once, and its attempt is not counted. What was
-- handed over without an attempt left has used none. Returns the queues that got messages. The caller holds the locks of the work.
create or replace function flow.give_back(p_work flow.work[], p_now timestamptz) returns integer[] language plpgsql as $$
begin
    return flow.wait_again(
        array(select row(w.run_id, w.step_index, w.task_index, w.flow_id, w.row_id, w.status, w.queue_id,
                         w.attempt - case when w.is_exhausted then 0 else 1 end, w.worker_id, w.batch, w.claimed_at, w.timeout_ms,
                         false)::flow.work
              from unnest(p_work) w),
        array_fill(p_now, array[cardinality(p_work)]), p_now);
end $$;
