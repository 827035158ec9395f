-- List the options that apply to each step, in step order, as an object: the step's own value where there is one, else the flow's, else the
-- default.
create or replace function flow.step_options(p_options jsonb)
returns table (step_index integer, options jsonb) language sql immutable as $$
    select (s.ord - 1)::integer,
           (select jsonb_object_agg(o.name, coalesce(coalesce(s.own -> o.name, case when o.is_of_flows then p_options -> o.name end)::bigint,
                                                     o.default_value))
            from flow.list_options() o)
    from jsonb_array_elements(p_options -> 'steps') with ordinality s(own, ord)
$$;
