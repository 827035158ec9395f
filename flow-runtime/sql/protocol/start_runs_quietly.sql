-- Start runs of flow p_slug as flow.start_runs does, for a program that tells others itself: p_tell_… is for flow.tell_others.
-- p_is_repeat says that the reply of the same call was lost, ids and all: then each queue of the flow is to be told, since nobody has
-- told of what the first may have started. Raises and locks as flow.start_runs says.
create or replace function flow.start_runs_quietly(
    p_slug text, p_inputs text[], p_run_ids uuid[], p_keys text[], p_start_at timestamptz[], p_is_repeat boolean,
    out p_ids uuid[], out p_tell_queues integer[], out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql as $$
declare
    v_flow record;
    v_now timestamptz := clock_timestamp();
    v_count integer;
    v_inputs jsonb[];
    v_started record;
begin
    perform flow.require_read_committed();
    perform flow.lock_starts(p_slug, false);
    select f.flow_id, f.slug, f.step_count, l.value_bytes, s.begin_at_once into v_flow
    from flow.flow f
    cross join lateral (
        select (s.value)::bigint as value_bytes from flow.setting s where s.name = 'max_value_bytes' offset 0
    ) l
    cross join lateral (
        select bool_and(s.over_step is distinct from -1
                        and (cardinality(s.dependencies) > 0 or s.starts_at_once and s.start_delay_ms = 0)) as begin_at_once
        from flow.step s where s.flow_id = f.flow_id offset 0
    ) s
    where f.slug_key = lower(p_slug collate "C") and f.deleted_at is null;
    if not found or v_flow.slug <> p_slug then
        raise exception 'flow "%" is not deployed%', p_slug,
            case when v_flow.slug is not null then format('; did you mean "%s"?', v_flow.slug)
                 else '; start a worker for it once, or check the slug' end
            using errcode = 'WF001';
    end if;
    if coalesce(cardinality(p_inputs), 0) = 0 then
        p_ids := '{}';
        return;
    end if;
    if p_is_repeat then
        p_tell_queues := array(select q.queue_id from flow.queue q where q.flow_id = v_flow.flow_id);
    end if;

    -- The usual start, without keys and instants. What is wrong with an argument is found in full.
    v_count := cardinality(p_inputs);
    if v_flow.begin_at_once and coalesce(cardinality(p_run_ids), 0) in (0, v_count)
       and coalesce(cardinality(p_keys), 0) in (0, v_count) and coalesce(cardinality(array_remove(p_keys, null)), 0) = 0
       and coalesce(cardinality(p_start_at), 0) in (0, v_count) and coalesce(cardinality(array_remove(p_start_at, null)), 0) = 0 then
        p_ids := p_run_ids;
        if cardinality(p_ids) is distinct from v_count or array_position(p_ids, null) is not null then
            select array_agg(coalesce(i.run_id, flow.uuid_v7()) order by i.ord) into p_ids
            from unnest(p_inputs, p_run_ids) with ordinality i(input, run_id, ord);
        end if;
        begin
            v_inputs := p_inputs::jsonb[];
        exception when data_exception or program_limit_exceeded then
            v_inputs := null;
        end;
        if v_count = 1 and v_inputs[1] is not null and not flow.is_doubtful(p_inputs[1], v_flow.value_bytes) then
            v_started := flow.start_one(v_flow.flow_id, v_flow.step_count, p_ids[1], v_inputs[1], v_now);
            if not v_started.p_is_new then
                perform flow.refuse_foreign_ids(v_flow.flow_id, p_ids);
            end if;
            p_tell_queues := p_tell_queues || v_started.p_queues;
            return;
        end if;
        if v_count > 1 and v_inputs is not null and not exists (
            select from unnest(p_inputs) i(input)
            where i.input is null or flow.is_doubtful(i.input, v_flow.value_bytes)) then
            v_started := flow.start_plain(v_flow.flow_id, v_flow.step_count, p_ids, v_inputs, v_now);
            if v_started.p_new < v_count then
                perform flow.refuse_foreign_ids(v_flow.flow_id, p_ids);
            end if;
            p_tell_queues := p_tell_queues || v_started.p_queues;
            return;
        end if;
    end if;

    v_started := flow.start_in_full(
        v_flow.flow_id, v_flow.step_count, v_flow.value_bytes, p_inputs, p_run_ids, p_keys, p_start_at, v_now);
    p_ids := v_started.p_ids;
    p_tell_queues := p_tell_queues || (v_started.p_progress).queues;
    p_tell_runs := (v_started.p_progress).ended_runs;
    p_tell_workers := (v_started.p_progress).workers;
end $$;
