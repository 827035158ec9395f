-- List the tasks a step gets: one without an item when p_source is null (a single step), else one for each element of
-- the source, which is the run's input (-1) or the output of a step.
create or replace function flow.step_items(p_run uuid, p_source integer)
returns table (task_index integer, item jsonb) language plpgsql stable as $$
begin
    if p_source is null then
        return query select 0, null::jsonb;
    elsif p_source = -1 then
        return query
            select (e.ord - 1)::integer, e.value
            from flow.run r cross join lateral jsonb_array_elements(r.input) with ordinality e(value, ord)
            where r.run_id = p_run;
    else
        return query
            select (e.ord - 1)::integer, e.value
            from flow.step_state ss cross join lateral jsonb_array_elements(ss.output) with ordinality e(value, ord)
            where ss.run_id = p_run and ss.step_index = p_source;
    end if;
end $$;
