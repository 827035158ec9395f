-- List everything that is wrong with a definition; an empty list means that the definition can be deployed.
-- flow-core has the same rules, and a worker applies them before it sends the definition.
create or replace function flow.definition_errors(p_definition jsonb) returns text[] language plpgsql stable as $$
declare
    v_shape jsonb := p_definition -> 'shape';
    v_options jsonb := p_definition -> 'options';
    v_errors text[] := '{}';
    v_slugs text[];
    v_step record;
    v_error text;
begin
    if jsonb_typeof(v_shape -> 'steps') is distinct from 'array' or jsonb_typeof(v_options -> 'steps') is distinct from 'array'
       or jsonb_typeof(v_shape -> 'slug') is distinct from 'string' then
        return array['the definition has no shape with a slug and steps, or no options; send what F::definition() makes'];
    end if;
    v_error := flow.slug_error(v_shape ->> 'slug', 47);
    if v_error is not null then
        v_errors := v_errors || format('flow slug "%s" %s', v_shape ->> 'slug', v_error);
    end if;
    if coalesce(v_shape ->> 'queue_mode', '') not in ('plain', 'step_queues', 'routed') then
        v_errors := v_errors || format('queue mode "%s" is not plain, step_queues or routed', v_shape ->> 'queue_mode');
    end if;
    if jsonb_array_length(v_shape -> 'steps') = 0 then
        v_errors := v_errors || format('flow "%s" has no steps; it needs at least one', v_shape ->> 'slug');
    end if;
    if jsonb_array_length(v_options -> 'steps') <> jsonb_array_length(v_shape -> 'steps') then
        v_errors := v_errors || 'options and shape have different numbers of steps'::text;
    end if;

    v_errors := v_errors || flow.option_errors(format('flow "%s"', v_shape ->> 'slug'), v_options, v_options);
    v_slugs := array(select s.step ->> 'slug'
                     from jsonb_array_elements(v_shape -> 'steps') with ordinality s(step, ord) order by s.ord);

    for v_step in
        select (s.ord - 1)::integer as index, s.step, s.step ->> 'slug' as slug, v_options -> 'steps' -> (s.ord - 1)::integer as own,
               v_slugs[1:(s.ord - 1)::integer] as earlier,
               flow.step_names(s.step) as names
        from jsonb_array_elements(v_shape -> 'steps') with ordinality s(step, ord) order by s.ord
    loop
        v_error := flow.slug_error(v_step.slug, 128);
        if v_error is not null then
            v_errors := v_errors || format('step slug "%s" %s', v_step.slug, v_error);
        end if;
        if lower(v_step.slug collate "C") in ('run', 'input', 'item', 'ctx', 'deps') then
            v_errors := v_errors || format('step slug "%s" is reserved', v_step.slug);
        end if;
        select format('steps "%s" and "%s" have the same slug but for case', e.slug, v_step.slug) into v_error
        from unnest(v_step.earlier) e(slug) where lower(e.slug collate "C") = lower(v_step.slug collate "C") limit 1;
        if found then
            v_errors := v_errors || v_error;
        end if;

        if coalesce(v_step.step ->> 'kind', '') not in ('single', 'map') then
            v_errors := v_errors || format('step "%s" has kind "%s", which is not single or map', v_step.slug,
                                           v_step.step ->> 'kind');
        elsif (v_step.step ->> 'kind' = 'map') <> (v_step.step ->> 'over' is not null) then
            v_errors := v_errors || format('step "%s" must have a source exactly when it is a map', v_step.slug);
        end if;
        v_errors := v_errors || array(
            select case
                when n.name = v_step.slug then format('step "%s" depends on itself', v_step.slug)
                when n.name = any (v_slugs) then format(
                    'step "%s" depends on "%s", which stands after it; the steps must be in an order without cycles',
                    v_step.slug, n.name)
                else format('step "%s" depends on "%s", but this flow has no such step', v_step.slug, n.name) end
            from unnest(v_step.names) n(name)
            where n.name <> all (v_step.earlier));
        v_errors := v_errors || array(
            select format('step "%s" names "%s" as a dependency twice', v_step.slug, n.name)
            from unnest(v_step.names) n(name) group by n.name having count(*) > 1);

        -- In step order, so that the order of a handler's parameters does not change the shape.
        v_errors := v_errors || array(
            select format('step "%s" must list %s in step order', v_step.slug, l.name)
            from (values ('needs'), ('after')) l(name)
            cross join lateral (
                select array_agg(array_position(v_slugs, d.name) order by d.ord)
                       <> array_agg(array_position(v_slugs, d.name) order by array_position(v_slugs, d.name)) as is_mixed
                from jsonb_array_elements_text(v_step.step -> l.name) with ordinality d(name, ord)
            ) d
            where d.is_mixed);

        v_errors := v_errors || flow.condition_errors(v_step.slug, v_step.step, v_step.names);
        v_errors := v_errors || flow.option_errors(format('step "%s"', v_step.slug), v_step.own, v_options || v_step.own);
    end loop;

    v_errors := v_errors || array(
        select case when q.queue is null then format(
                   'step "%s" at index %s of flow "%s": neither queue name "%s" (%s characters) nor "%s" (%s) fits '
                   'into 47 characters', v_slugs[q.step_index + 1], q.step_index, v_shape ->> 'slug',
                   n.readable, length(n.readable), n.fallback, length(n.fallback))
               else format('queue name "%s" has %s characters; at most 47 lower-case ASCII ones are allowed',
                           q.queue, length(q.queue)) end
        from flow.list_queues(v_shape) q
        cross join lateral (
            select lower(concat(v_shape ->> 'slug', '__', v_slugs[q.step_index + 1]) collate "C") as readable,
                   lower(concat(v_shape ->> 'slug', '__', q.step_index) collate "C") as fallback) n
        where q.queue is null or (v_shape ->> 'queue_mode' = 'routed' and q.queue !~ '^[a-z][a-z0-9_]{0,46}$'));
    return v_errors;
end $$;
