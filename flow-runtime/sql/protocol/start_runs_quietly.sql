-- Start runs of flow p_slug as flow.start_runs does, without sending notifications: the calling program passes p_tell_… to
-- flow.tell_others.
-- p_is_repeat says that the reply to the same call, with the same ids, was lost. Then p_tell_queues names every queue of the flow, since
-- nobody has notified workers of the runs that the first call may have started.
-- With p_worker, a worker of the program with p_slots free slots, first steps of the runs may be handed out to that worker without a
-- message, under p_batch, a number of the worker; p_claimed_… and p_value_… are as flow.exchange returns them. Steps beyond p_slots wait as
-- usual. When some run is not new and nothing was handed out, the call is a repeat: it returns what p_batch handed out and the worker still
-- holds.
-- Raises and locks as flow.start_runs says; the lock of p_process, the worker's process, is tried and not waited for.
create or replace function flow.start_runs_quietly(
    p_slug text, p_inputs text[], p_run_ids uuid[], p_keys text[], p_start_at timestamptz[], p_is_repeat boolean,
    p_process bigint default null, p_worker bigint default null, p_batch bigint default null, p_slots integer default null,
    out p_ids uuid[], out p_tell_queues integer[], out p_tell_runs uuid[], out p_tell_workers bigint[],
    out p_claimed_at timestamptz, out p_claimed_runs uuid[], out p_claimed_steps integer[], out p_claimed_attempts integer[],
    out p_claimed_timeouts_ms bigint[], out p_value_runs uuid[], out p_value_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_flow record;
    v_now timestamptz := clock_timestamp();
    v_count integer;
    v_inputs jsonb[];
    v_offered record;
    v_self flow.worker_state; -- the worker p_worker; null when no result of it would count
    v_offer flow.offer;
    v_started record;
    v_is_new boolean; -- each of the runs is new
    v_is_doubtful boolean; -- some input is doubtful (flow.is_doubtful)
    v_claims flow.claim[];
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

    -- One test of all inputs together is cheap and nearly always finds nothing; only when it does, each input is tested.
    v_is_doubtful := flow.is_doubtful(array_to_string(p_inputs, ' '), v_flow.value_bytes)
        and exists (select from unnest(p_inputs) i(input) where flow.is_doubtful(i.input, v_flow.value_bytes));
    if p_worker is not null then
        v_offered := flow.offer_start(p_process, p_worker, p_batch, p_slots, v_flow.flow_id);
        v_self := v_offered.p_self;
        v_offer := v_offered.p_offer;
        if p_is_repeat or v_is_doubtful then
            -- A repeat never hands out a second time under its number. A doubtful input may be too long as text to be sent back.
            v_offer := null;
        end if;
    end if;

    -- The usual start, without keys and start times. Where an argument is wrong, flow.start_in_full finds out what.
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
        if not v_is_doubtful and v_inputs is not null and array_position(v_inputs, null) is null then
            if v_count = 1 then
                v_started := flow.start_one(v_flow.flow_id, v_flow.step_count, p_ids[1], v_inputs[1], v_now, v_offer);
                v_is_new := v_started.p_is_new;
            else
                v_started := flow.start_plain(v_flow.flow_id, v_flow.step_count, p_ids, v_inputs, v_now, v_offer);
                v_is_new := v_started.p_new = v_count;
            end if;
            if not v_is_new then
                perform flow.refuse_foreign_ids(v_flow.flow_id, p_ids);
            end if;
            p_tell_queues := p_tell_queues || v_started.p_queues;
            v_claims := v_started.p_handed;
        end if;
    end if;
    if v_is_new is null then
        v_started := flow.start_in_full(
            v_flow.flow_id, v_flow.step_count, v_flow.value_bytes, p_inputs, p_run_ids, p_keys, p_start_at, v_now,
            v_offer);
        p_ids := v_started.p_ids;
        v_is_new := v_started.p_are_new;
        p_tell_queues := p_tell_queues || (v_started.p_progress).queues;
        p_tell_runs := (v_started.p_progress).ended_runs;
        p_tell_workers := (v_started.p_progress).workers;
        v_claims := (v_started.p_progress).handed;
    end if;

    if cardinality(v_claims) > 0 then
        p_claimed_at := v_now;
        perform flow.list_start(p_worker, p_batch, v_claims);
    elsif p_worker is not null and not v_is_new and v_self.worker_id is not null then
        p_claimed_at := clock_timestamp();
        v_claims := flow.listed_claims(p_worker, p_batch);
    end if;
    if cardinality(v_claims) > 0 then
        select array_agg(c.run_id), array_agg(c.step_index), array_agg(c.attempt), array_agg(c.timeout_ms)
        into p_claimed_runs, p_claimed_steps, p_claimed_attempts, p_claimed_timeouts_ms from unnest(v_claims) c;
        select v.p_runs, v.p_steps, v.p_values into p_value_runs, p_value_steps, p_values
        from flow.shared_values(v_self, v_claims) v;
    end if;
end $$;
