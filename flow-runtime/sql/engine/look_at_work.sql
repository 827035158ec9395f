-- Return the rows of the work that the given results name, without locking them, in the order of the results; null where there is no such
-- work.
create or replace function flow.look_at_work(p_results flow.result[]) returns flow.work[] language plpgsql stable as $$
begin
    return (
        select array_agg(coalesce(s.work, t.work) order by m.ord)
        from unnest(p_results) m
        left join lateral (
            select flow.single_work(l, l.ctid) as work from flow.step_state l
            where m.task_index < 0 and l.run_id = m.run_id and l.step_index = m.step_index offset 0
        ) s on true
        left join lateral (
            select flow.task_work(l, l.ctid) as work from flow.task l
            where m.task_index >= 0 and l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index offset 0
        ) t on true);
end $$;
