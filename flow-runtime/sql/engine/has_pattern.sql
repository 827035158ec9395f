-- Tell whether the subject of a step's condition contains a pattern. The subject is the run's input for a step without dependencies, else
-- the object of its completed dependencies' outputs by slug.
-- Each key of the pattern is compared with the output of that one dependency. The outputs are never joined into one object, because
-- together they could exceed what one value can hold.
create or replace function flow.has_pattern(p_run uuid, p_flow_id integer, p_dependencies integer[], p_pattern jsonb)
returns boolean language plpgsql stable as $$
begin
    if cardinality(p_dependencies) = 0 then
        return (select r.input @> p_pattern from flow.run r where r.run_id = p_run);
    end if;
    return not exists (
        select from jsonb_each(p_pattern) k(slug, pattern)
        where not exists (
            select from unnest(p_dependencies) d(step_index)
            cross join lateral (
                select ss.output from flow.step ds, flow.step_state ss
                where ds.flow_id = p_flow_id and ds.step_index = d.step_index and ds.slug = k.slug
                  and ss.run_id = p_run and ss.step_index = d.step_index and ss.status = 'completed' offset 0
            ) o
            where jsonb_build_object('value', o.output) @> jsonb_build_object('value', k.pattern)));
end $$;
