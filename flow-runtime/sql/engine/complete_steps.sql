-- Complete the single steps whose results say `complete`. A result counts only under the fence (the step is started, not exhausted, and
-- held by this worker under the result's batch), only the first of a work and batch, and only with an array as output where a map runs over
-- the step.
-- Returns the places (ord) of the results that counted, and the steps. The caller holds the locks of the runs.
create or replace function flow.complete_steps(
    p_self flow.worker_state, p_results flow.result[], p_now timestamptz,
    out p_completed bigint[], out p_ended flow.step_ref[]
) language plpgsql as $$
begin
    with ended as (
        update flow.step_state ss
        set status = 'completed', remaining_tasks = 0, ended_at = p_now, output = u.output
        from (
            select u.ord, u.batch, u.output, l.row_id
            from unnest(p_results) u
            cross join lateral (
                select l.ctid as row_id, l.flow_id from flow.step_state l
                where l.run_id = u.run_id and l.step_index = u.step_index offset 0
            ) l
            cross join lateral (
                select s.feeds_map from flow.step s where s.flow_id = l.flow_id and s.step_index = u.step_index offset 0
            ) s
            where u.task_index < 0 and u.outcome = 'complete' and not u.is_repeat
              and (not s.feeds_map or jsonb_typeof(u.output) = 'array')
            offset 0
        ) u
        where ss.ctid = u.row_id and ss.status = 'started' and ss.worker_id = p_self.worker_id and ss.batch = u.batch
          and ss.queue_id = p_self.queue_id and not ss.is_exhausted
        returning u.ord, ss.run_id, ss.step_index, ss.flow_id
    )
    select coalesce(array_agg(e.ord), '{}'),
           coalesce(array_agg(row(e.run_id, e.step_index, e.flow_id)::flow.step_ref), '{}')
    into p_completed, p_ended from ended e;
end $$;
