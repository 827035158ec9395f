-- Return the slugs of the steps with the given indexes, in the order of the indexes given, as a JSON array.
create or replace function flow.step_slugs(p_flow_id integer, p_steps integer[]) returns jsonb language sql stable as $$
    select coalesce(jsonb_agg(s.slug order by u.ord), '[]')
    from unnest(p_steps) with ordinality u(step_index, ord)
    join flow.step s on s.flow_id = p_flow_id and s.step_index = u.step_index
$$;
