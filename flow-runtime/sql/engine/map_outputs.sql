-- List the outputs of a map's completed tasks with their indexes, in no order. For a large map, tasks that were completed in the runs which
-- this run retries count too (taken_from).
create or replace function flow.map_outputs(p_run uuid, p_step integer) returns table (task_index integer, output jsonb)
language plpgsql stable as $$
begin
    return query
        with recursive source as (
            select ss.run_id, ss.taken_from from flow.step_state ss where ss.run_id = p_run and ss.step_index = p_step
            union all
            select ss.run_id, ss.taken_from
            from source s
            cross join lateral (
                select t.run_id, t.taken_from from flow.step_state t
                where t.run_id = s.taken_from and t.step_index = p_step offset 0
            ) ss
        )
        select o.task_index, o.output
        from source s
        cross join lateral (
            select t.task_index, t.output from flow.task t
            where t.run_id = s.run_id and t.step_index = p_step and t.status = 'completed' offset 0
        ) o;
end $$;
