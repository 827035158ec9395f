-- Collect what claimed tasks are called with: the items, one entry a task, and each shared value once: a run's input
-- (step -1), where a step of this worker takes it, and the outputs of completed dependencies.
create or replace function flow.task_values(
    p_self flow.worker_state, p_runs uuid[], p_steps integer[], p_tasks integer[],
    out p_items text[], out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
begin
    select array_agg(t.item::text order by c.ord) into p_items
    from unnest(p_runs, p_steps, p_tasks) with ordinality c(run_id, step_index, task_index, ord)
    cross join lateral (
        select t.item from flow.task t
        where t.run_id = c.run_id and t.step_index = c.step_index and t.task_index = c.task_index offset 0
    ) t;

    select array_agg(v.run_id), array_agg(v.step_index), array_agg(v.value)
    into p_value_runs, p_value_steps, p_values
    from (
        select u.run_id, -1 as step_index, r.input::text as value
        from (select distinct c.run_id from unnest(p_runs, p_steps) c(run_id, step_index)
              where c.step_index = any (p_self.input_steps)) u
        cross join lateral (select r.input from flow.run r where r.run_id = u.run_id offset 0) r
        union all
        select u.run_id, u.step_index, o.output::text
        from (
            select distinct c.run_id, n.step_index
            from unnest(p_runs, p_steps) c(run_id, step_index)
            cross join lateral (
                select s.needs from flow.step s
                where s.flow_id = p_self.flow_id and s.step_index = c.step_index offset 0
            ) s
            cross join lateral unnest(s.needs) n(step_index)
        ) u
        cross join lateral (
            select ss.output from flow.step_state ss
            where ss.run_id = u.run_id and ss.step_index = u.step_index and ss.status = 'completed' offset 0
        ) o
    ) v;
end $$;
