-- Create a flow with its queues, steps and contract from a definition that has no errors. Returns the flow's id. The caller holds the
-- slug's lock.
-- Raises WF007 when a queue of the flow exists already, and what flow.write_options raises; nothing is written then.
create or replace function flow.create_flow(p_definition jsonb, p_build jsonb) returns integer language plpgsql as $$
declare
    v_shape jsonb := p_definition -> 'shape';
    v_options jsonb := p_definition -> 'options';
    v_flow_id integer;
    v_queue text;
begin
    insert into flow.flow (slug, queue_mode, step_count, is_plain, options, notes, build)
    values (v_shape ->> 'slug', v_shape ->> 'queue_mode', jsonb_array_length(v_shape -> 'steps'),
            not exists (select from jsonb_array_elements(v_shape -> 'steps') s(step)
                        where s.step ->> 'kind' <> 'single' or s.step ->> 'when_unmet' is not null),
            v_options, p_definition -> 'notes', p_build)
    returning flow_id into v_flow_id;

    for v_queue in select distinct q.queue from flow.list_queues(v_shape) q order by q.queue loop
        perform flow.create_queue(v_queue, v_flow_id);
    end loop;

    insert into flow.step (
        flow_id, step_index, slug, kind, over_step, needs, after, dependencies, dependents, feeds_map, run_if, run_unless,
        when_unmet, starts_at_once, when_exhausted, queue_id)
    with step as (
        select (s.ord - 1)::integer as step_index, s.step, s.step ->> 'slug' as slug
        from jsonb_array_elements(v_shape -> 'steps') with ordinality s(step, ord)
    ), edge as (
        select s.step_index, d.step_index as on_step, p.part
        from step s
        cross join lateral (
            select 'over' as part, s.step ->> 'over' as name where s.step ->> 'over' is distinct from 'input'
            union all select 'needs', n.name from jsonb_array_elements_text(s.step -> 'needs') n(name)
            union all select 'after', a.name from jsonb_array_elements_text(s.step -> 'after') a(name)
        ) p
        join step d on d.slug = p.name
    )
    select v_flow_id, s.step_index, s.slug, (s.step ->> 'kind')::flow.step_kind,
           case when s.step ->> 'over' = 'input' then -1
                else (select e.on_step from edge e where e.step_index = s.step_index and e.part = 'over') end,
           array(select e.on_step from edge e where e.step_index = s.step_index and e.part = 'needs' order by 1),
           array(select e.on_step from edge e where e.step_index = s.step_index and e.part = 'after' order by 1),
           array(select e.on_step from edge e where e.step_index = s.step_index order by 1),
           array(select e.step_index from edge e where e.on_step = s.step_index order by 1),
           exists (select from edge e where e.on_step = s.step_index and e.part = 'over'),
           s.step -> 'run_if', s.step -> 'run_unless', (s.step ->> 'when_unmet')::flow.mode,
           s.step ->> 'when_unmet' is null and not exists (select from step f where f.step ->> 'when_unmet' = 'fail'),
           (s.step ->> 'when_exhausted')::flow.mode,
           (select q.queue_id from flow.list_queues(v_shape) l join flow.queue q on q.name = l.queue
            where l.step_index = s.step_index)
    from step s;
    perform flow.write_options(v_flow_id, v_options);

    insert into flow.contract (flow_id, step_index, schema, hash)
    select v_flow_id, c.step_index, c.schema, c.hash from flow.list_contract(p_definition -> 'contract') c;
    return v_flow_id;
end $$;
