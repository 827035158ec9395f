-- List every difference between the stored shape of a flow and the shape that was sent, one text for each.
create or replace function flow.shape_differences(p_stored jsonb, p_sent jsonb) returns text[] language sql immutable as $$
    select array(
        select d.line from (
            select -2 as step_index, 0 as field, format('queue_mode: stored %s, sent %s', p_stored -> 'queue_mode',
                                                        p_sent -> 'queue_mode') as line
            where p_stored -> 'queue_mode' <> p_sent -> 'queue_mode'
            union all
            select -1, 0, format('number of steps: stored %s, sent %s', jsonb_array_length(p_stored -> 'steps'),
                                 jsonb_array_length(p_sent -> 'steps'))
            where jsonb_array_length(p_stored -> 'steps') <> jsonb_array_length(p_sent -> 'steps')
            union all
            select i.step_index, 0, case
                when p_sent -> 'steps' -> i.step_index is null
                    then format('step %s: stored "%s", sent nothing', i.step_index,
                                p_stored -> 'steps' -> i.step_index ->> 'slug')
                else format('step %s: stored nothing, sent "%s"', i.step_index,
                            p_sent -> 'steps' -> i.step_index ->> 'slug') end
            from generate_series(0, greatest(jsonb_array_length(p_stored -> 'steps'),
                                             jsonb_array_length(p_sent -> 'steps')) - 1) i(step_index)
            where (p_stored -> 'steps' -> i.step_index is null) <> (p_sent -> 'steps' -> i.step_index is null)
            union all
            select i.step_index, f.ord, format(
                'step %s "%s", %s: stored %s, sent %s', i.step_index, p_stored -> 'steps' -> i.step_index ->> 'slug',
                f.name, coalesce((p_stored -> 'steps' -> i.step_index -> f.name)::text, 'nothing'),
                coalesce((p_sent -> 'steps' -> i.step_index -> f.name)::text, 'nothing'))
            from generate_series(0, least(jsonb_array_length(p_stored -> 'steps'),
                                          jsonb_array_length(p_sent -> 'steps')) - 1) i(step_index)
            cross join unnest(array['slug', 'kind', 'over', 'needs', 'after', 'run_if', 'run_unless', 'when_unmet',
                                    'when_exhausted', 'queue']) with ordinality f(name, ord)
            where p_stored -> 'steps' -> i.step_index -> f.name is distinct from p_sent -> 'steps' -> i.step_index -> f.name
        ) d
        order by d.step_index, d.field)
$$;
