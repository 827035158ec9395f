-- List the slugs of the dependencies of a step of a shape: its map source (unless that is the run's input), then its data dependencies,
-- then its order-only dependencies.
create or replace function flow.step_names(p_step jsonb) returns text[] language sql immutable as $$
    select array(
        select n.name from (
            select 1 as part, 1::bigint as ord, p_step ->> 'over' as name
            union all
            select 2, d.ord, d.name from jsonb_array_elements_text(p_step -> 'needs') with ordinality d(name, ord)
            union all
            select 3, a.ord, a.name from jsonb_array_elements_text(p_step -> 'after') with ordinality a(name, ord)
        ) n
        where n.name is not null and not (n.part = 1 and n.name = 'input')
        order by n.part, n.ord)
$$;
