-- Count the elements over which a map of run p_run runs: the elements of the run's input (p_source -1) or of a step's output; 0 when that
-- step was skipped.
create or replace function flow.element_count(p_run uuid, p_source integer)
returns integer language plpgsql stable as $$
begin
    if p_source = -1 then
        return (select jsonb_array_length(r.input) from flow.run r where r.run_id = p_run);
    end if;
    return coalesce((
        select jsonb_array_length(o.output) from flow.step_state o
        where o.run_id = p_run and o.step_index = p_source and o.status = 'completed'), 0);
end $$;
