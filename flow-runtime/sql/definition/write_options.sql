-- Write the options that apply to each step of a flow into the columns of flow.step that have the options' names. p_options are the flow's
-- options as sent.
-- Raises WF009 when a step has a priority that its queue cannot keep.
create or replace function flow.write_options(p_flow_id integer, p_options jsonb) returns void language plpgsql as $$
declare
    v_columns text := (select string_agg(format('%I', o.name), ', ') from flow.list_options() o);
begin
    execute format($update$
        update flow.step s
        set (%1$s) = (select %1$s from jsonb_populate_record(null::flow.step, o.options))
        from flow.step_options($2) o
        where s.flow_id = $1 and s.step_index = o.step_index
    $update$, v_columns) using p_flow_id, p_options;
    perform flow.refuse_priorities(p_flow_id);
end $$;
