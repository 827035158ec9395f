-- Deploy a flow: create the flow, or verify that it exists with exactly this shape. One transaction under the slug's lock.
-- Returns an object whose `result` is created | verified | options_updated | recreated | mismatch | draining. Where they apply, it has
-- also: `differences` (of the shape), `options` (changes that were applied), `kept_options` (changes that were not applied, because a newer
-- build, named by `newer_build`, has applied its own), `drift` (changed paths of the contract) with `drift_schemas` (old and new schemas),
-- `environment` and `is_older_build` (true when a newer build has recorded its types, which stay), `workers` (alive, while draining) and
-- `lookalike` (a flow of the same shape under another slug).
-- After a mismatch nothing was written. With the setting environment at development, a changed shape asks the flow's workers to drain
-- (`draining`; call again when they have stopped) and then deletes the flow's runs and private queues (`recreated`).
-- p_on_drift: report | refuse. p_build holds the program's version and build time. p_on_options: newer (the options of a newer build stay)
-- | apply. Without p_makes_queues no table is created, and a flow whose queues do not exist is refused.
-- Raises WF009 (the definition has errors), WF007 (a queue is taken, or would have to be made), WF011 (not supported yet), WF019 (the flow
-- is being deleted), WF014 (the contract drifted and p_on_drift is refuse), WF015 (the slug differs from another flow's in case only).
create or replace function flow.deploy(
    p_definition jsonb, p_on_drift text default 'report', p_build jsonb default null, p_on_options text default 'newer',
    p_makes_queues boolean default true
) returns jsonb language plpgsql as $$
declare
    v_shape jsonb := p_definition -> 'shape';
    v_slug text := v_shape ->> 'slug';
    v_errors text[] := flow.definition_errors(p_definition);
    v_flow record;
    v_stored jsonb;
    v_differences text[];
    v_workers jsonb;
    v_options record;
    v_drift record;
    v_lookalike text;
    v_recreated boolean := false;
begin
    perform flow.require_read_committed();
    if cardinality(v_errors) > 0 then
        raise exception 'the definition of flow "%" has % mistakes: %', v_slug, cardinality(v_errors),
            array_to_string(v_errors, '; ') using errcode = 'WF009', detail = to_jsonb(v_errors)::text;
    end if;
    if v_shape ->> 'queue_mode' = 'routed' then
        raise exception 'not supported yet: queue on step %', v_shape -> 'steps' -> 0 ->> 'slug' using errcode = 'WF011';
    end if;

    perform flow.lock_slug(v_slug);
    select f.* into v_flow from flow.flow f where f.slug_key = lower(v_slug collate "C");
    if found and v_flow.slug <> v_slug then
        raise exception 'flow "%" differs from the deployed flow "%" in letter case only; choose another slug', v_slug,
            v_flow.slug using errcode = 'WF015';
    end if;
    if v_flow.deleted_at is not null then
        raise exception 'flow "%" is being deleted; call flow.delete_flow(''%'') until it is done, then deploy again', v_slug, v_slug
            using errcode = 'WF019';
    end if;

    v_stored := flow.stored_shape(v_flow.flow_id);
    if v_stored <> v_shape then
        v_differences := flow.shape_differences(v_stored, v_shape);
        if (select s.value from flow.setting s where s.name = 'environment') <> '"development"' then
            return jsonb_build_object('result', 'mismatch', 'differences', to_jsonb(v_differences));
        end if;
        v_workers := flow.drain_flow(v_flow.flow_id);
        if jsonb_array_length(v_workers) > 0 then
            return jsonb_build_object('result', 'draining', 'differences', to_jsonb(v_differences), 'workers', v_workers);
        end if;
        while not (flow.delete_flow(v_slug, ends_runs => true) ->> 'done')::boolean loop
        end loop;
        v_recreated := true;
    end if;

    if v_flow.flow_id is null or v_recreated then
        if not p_makes_queues then
            raise exception 'flow "%" needs queues that are not there: %; a client makes no queues: start a '
                'worker for the flow once', v_slug,
                (select string_agg(distinct q.queue, ', ') from flow.list_queues(v_shape) q) using errcode = 'WF007';
        end if;
        select f.slug into v_lookalike from flow.flow f
        where f.step_count = jsonb_array_length(v_shape -> 'steps')
          and flow.stored_shape(f.flow_id) - 'slug' = v_shape - 'slug' order by f.flow_id desc limit 1;
        perform flow.create_flow(p_definition, p_build);
        return jsonb_strip_nulls(jsonb_build_object(
            'result', case when v_recreated then 'recreated' else 'created' end,
            'differences', to_jsonb(v_differences), 'lookalike', v_lookalike));
    end if;

    v_drift := flow.update_contract(v_flow.flow_id, p_definition -> 'contract', v_shape, p_build);
    if v_drift.p_paths is not null and p_on_drift = 'refuse' then
        raise exception 'the types of flow "%" have changed under an unchanged shape: %; give the flow another slug, or '
            'deploy with drift set to report', v_slug, v_drift.p_paths using errcode = 'WF014', detail = v_drift.p_paths::text;
    end if;
    v_options := flow.update_options(v_flow.flow_id, p_definition -> 'options', p_build, p_on_options = 'apply');
    if v_flow.notes <> p_definition -> 'notes' then
        update flow.flow f set notes = p_definition -> 'notes' where f.flow_id = v_flow.flow_id;
    end if;
    return jsonb_strip_nulls(jsonb_build_object(
        'result', case when v_options.p_applied is null then 'verified' else 'options_updated' end,
        'options', v_options.p_applied, 'kept_options', v_options.p_kept, 'newer_build', v_options.p_newer_build,
        'drift', v_drift.p_paths,
        'is_older_build', case when v_drift.p_paths is not null then v_drift.p_is_older end,
        'environment', case when v_drift.p_paths is not null then (
            select s.value from flow.setting s where s.name = 'environment') end))
        -- Outside jsonb_strip_nulls, because a null in a schema means something.
        || case when v_drift.p_paths is null then '{}' else jsonb_build_object('drift_schemas', v_drift.p_schemas) end;
end $$;
