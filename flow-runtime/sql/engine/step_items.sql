-- List the elements over which a map of run p_run runs, with their indexes: the elements of the run's input (p_source -1) or of a step's
-- output.
create or replace function flow.step_items(p_run uuid, p_source integer)
returns table (task_index integer, item jsonb) language plpgsql stable as $$
begin
    if p_source = -1 then
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
