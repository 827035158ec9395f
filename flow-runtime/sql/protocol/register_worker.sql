-- Register a worker of a process for flow p_slug on queue p_queue, under the id p_worker that the program has chosen. Runs under the slug's
-- lock, after the flow was deployed, and only while the stored shape is the shape that the worker was built with. A second call with the
-- same id changes nothing.
-- Raises WF001 (no such flow), WF003 (the flow has another shape by now), WF007 (the queue does not belong to the flow, or a step is not on
-- the queue), WF010 (the name is disabled, or the flow deprecated), WF013 (the program is too old); no row is written then.
create or replace function flow.register_worker(
    p_worker bigint, p_process bigint, p_name text, p_slug text, p_shape jsonb, p_queue text, p_steps integer[], p_input_steps integer[],
    p_interface integer, out p_queue_id integer
) language plpgsql as $$
declare
    v_flow record;
    v_oldest integer;
    v_owner integer;
    v_bad record;
begin
    perform flow.require_read_committed();
    select (s.value)::integer into v_oldest from flow.setting s where s.name = 'oldest_interface';
    if p_interface < v_oldest then
        raise exception 'this program speaks interface %, the database speaks % or newer; build it with a newer flow',
            p_interface, v_oldest using errcode = 'WF013';
    end if;
    perform flow.lock_slug(p_slug);
    perform flow.refuse_disabled(p_name);
    select f.flow_id, f.deprecated_at into v_flow from flow.flow f where f.slug = p_slug and f.deleted_at is null;
    if not found then
        raise exception 'flow "%" is not deployed; deploy it first', p_slug using errcode = 'WF001';
    end if;
    if v_flow.deprecated_at is not null then
        raise exception 'flow "%" is deprecated since %; call flow.undeprecate(''%'') to let its workers start', p_slug,
            v_flow.deprecated_at, p_slug using errcode = 'WF010';
    end if;
    if flow.stored_shape(v_flow.flow_id) <> p_shape then
        raise exception 'flow "%" has another shape by now than this worker deployed; start the worker again', p_slug
            using errcode = 'WF003';
    end if;
    select q.queue_id, q.flow_id into p_queue_id, v_owner from flow.queue q where q.name = p_queue;
    if not found then
        raise exception 'no queue "%" is registered; deploy its flow first', p_queue using errcode = 'WF007';
    end if;
    if v_owner <> v_flow.flow_id then
        raise exception 'queue "%" belongs to flow "%"; a worker of flow "%" cannot serve it', p_queue,
            (select f.slug from flow.flow f where f.flow_id = v_owner), p_slug using errcode = 'WF007';
    end if;
    if coalesce(cardinality(p_steps), 0) = 0 then
        raise exception 'the worker serves no step; name the steps of flow "%" that it serves', p_slug using errcode = 'WF007';
    end if;
    select u.step_index, s.slug, q.name into v_bad
    from unnest(p_steps || p_input_steps) u(step_index)
    left join flow.step s on s.flow_id = v_flow.flow_id and s.step_index = u.step_index
    left join flow.queue q on q.queue_id = s.queue_id
    where s.queue_id is distinct from p_queue_id order by u.step_index limit 1;
    if found then
        raise exception '%', case when v_bad.slug is null
            then format('flow "%s" has no step with index %s', p_slug, v_bad.step_index)
            else format('step "%s" of flow "%s" is on queue "%s", so a worker of queue "%s" cannot serve it', v_bad.slug, p_slug,
                        v_bad.name, p_queue) end using errcode = 'WF007';
    end if;
    insert into flow.worker (worker_id, process_id, name, flow_id, queue_id, steps, input_steps, interface)
    values (p_worker, p_process, p_name, v_flow.flow_id, p_queue_id, p_steps, p_input_steps, p_interface)
    on conflict (worker_id) do nothing;
end $$;
