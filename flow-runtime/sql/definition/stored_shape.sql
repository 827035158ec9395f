-- Read a flow's shape back from the rows that the engine works by, in the form in which a program sends it. A step that is on another queue
-- than the flow's queue mode gives it names that queue, so that the stored shape differs from what is sent.
create or replace function flow.stored_shape(p_flow_id integer) returns jsonb language sql stable as $$
    select jsonb_build_object('slug', f.slug, 'queue_mode', f.queue_mode, 'steps', (
        select coalesce(jsonb_agg(
            jsonb_build_object(
                'slug', s.slug, 'kind', s.kind,
                'over', case when s.over_step = -1 then 'input' else flow.step_slugs(s.flow_id, array[s.over_step]) ->> 0 end,
                'needs', flow.step_slugs(s.flow_id, s.needs), 'after', flow.step_slugs(s.flow_id, s.after),
                'when_unmet', s.when_unmet, 'when_exhausted', s.when_exhausted,
                'queue', case when f.queue_mode = 'routed' or q.name <> case f.queue_mode
                                  when 'plain' then lower(f.slug collate "C")
                                  else flow.step_queue_name(f.slug, s.slug, s.step_index) end
                              then q.name end)
            || case when s.run_if is null then '{}' else jsonb_build_object('run_if', s.run_if) end
            || case when s.run_unless is null then '{}' else jsonb_build_object('run_unless', s.run_unless) end
            order by s.step_index), '[]')
        from flow.step s
        join flow.queue q on q.queue_id = s.queue_id
        where s.flow_id = f.flow_id))
    from flow.flow f where f.flow_id = p_flow_id
$$;
