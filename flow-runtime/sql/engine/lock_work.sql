-- Lock the work of the given results, by run, step and task, waiting for locked rows. Returns the rows in the order of the results, null
-- where there is no such work. The caller holds the locks of the runs.
create or replace function flow.lock_work(p_results flow.result[]) returns flow.work[] language plpgsql as $$
begin
    return (
        select array_agg(coalesce(s.work, t.work) order by m.ord)
        from (select r.ord, r.run_id, r.step_index, r.task_index from unnest(p_results) r
              order by r.run_id, r.step_index, r.task_index) m
        left join lateral (
            select flow.single_work(l, l.ctid) as work from flow.step_state l
            where m.task_index < 0 and l.run_id = m.run_id and l.step_index = m.step_index for update
        ) s on true
        left join lateral (
            select flow.task_work(l, l.ctid) as work from flow.task l
            where m.task_index >= 0 and l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
            for update
        ) t on true);
end $$;
