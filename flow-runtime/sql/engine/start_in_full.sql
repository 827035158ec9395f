-- Start runs of a flow, one for each input, checking everything that flow.start_runs may be given, and enqueue their root steps.
-- Returns the runs' ids in the order of the inputs, whether all of them are new, and the progress that was made. Work is handed out under
-- p_offer only for runs that are due, and not for an input that is an empty array: an empty map over that input may end the run at once.
-- Raises what flow.start_runs does. The caller holds the lock of the flow's starts.
create or replace function flow.start_in_full(
    p_flow_id integer, p_step_count integer, p_limit bigint, p_inputs text[], p_run_ids uuid[], p_keys text[], p_start_at timestamptz[],
    p_now timestamptz, p_offer flow.offer, out p_ids uuid[], out p_are_new boolean, out p_progress flow.progress
) language plpgsql as $$
declare
    v_inputs jsonb[];
    v_bad record;
    v_new_ids uuid[];
    v_elements integer[]; -- the number of elements of each input, null where it is no array
    v_due_at timestamptz[];
    v_started flow.started_step[];
    v_ready flow.step_ref[];
    v_handed flow.claim[];
begin
    perform flow.check_start(p_inputs, p_run_ids, p_keys, p_start_at);

    begin
        v_inputs := p_inputs::jsonb[];
    exception when data_exception or program_limit_exceeded then
        select o.ord, r.p_error into v_bad
        from unnest(p_inputs) with ordinality o(input, ord) cross join lateral flow.read_json(o.input) r
        where r.p_error is not null order by o.ord limit 1;
        raise exception 'input % cannot be stored: %; it must be JSON that Postgres can hold', v_bad.ord, v_bad.p_error
            using errcode = 'WF008';
    end;
    select o.ord, e.p_error, e.p_code into v_bad
    from unnest(p_inputs, v_inputs) with ordinality o(text, input, ord)
    cross join lateral flow.value_error(o.text, o.input, p_limit) e
    where flow.is_doubtful(o.text, p_limit) and e.p_error is not null order by o.ord limit 1;
    if found then
        raise exception 'input % %', v_bad.ord, v_bad.p_error using errcode = v_bad.p_code;
    end if;
    select o.ord, s.slug, coalesce(jsonb_typeof(o.input), 'nothing') as kind into v_bad
    from unnest(v_inputs) with ordinality o(input, ord)
    cross join (select s.slug from flow.step s
                where s.flow_id = p_flow_id and s.over_step = -1 order by s.step_index limit 1) s
    where jsonb_typeof(o.input) is distinct from 'array' order by o.ord limit 1;
    if found then
        raise exception 'input % must be an array, because map "%" runs over it; it is %', v_bad.ord, v_bad.slug,
            v_bad.kind using errcode = 'WF004';
    end if;
    if exists (select from unnest(v_inputs) o(input) where o.input is null) then
        raise exception 'an input is SQL null; pass a JSON value, such as ''null''::jsonb' using errcode = 'WF004';
    end if;

    select array_agg(coalesce(i.run_id, flow.uuid_v7()) order by i.ord) into p_ids
    from unnest(p_inputs, p_run_ids) with ordinality i(input, run_id, ord);
    if exists (select from unnest(p_keys) k(key) where k.key is not null) then
        p_ids := flow.take_keys(p_flow_id, p_keys, p_ids);
    end if;

    with created as (
        insert into flow.run (run_id, flow_id, remaining_steps, started_at, due_at, input)
        select n.run_id, p_flow_id, p_step_count, p_now, greatest(n.start_at, p_now), n.input
        from (select distinct on (n.run_id) n.run_id, n.input, n.start_at
              from unnest(p_ids, v_inputs, p_start_at) with ordinality n(run_id, input, start_at, ord)
              order by n.run_id, n.ord) n
        order by n.run_id
        on conflict (run_id) do nothing
        returning run_id, due_at, case when jsonb_typeof(input) = 'array' then jsonb_array_length(input) end as elements
    )
    select coalesce(array_agg(c.run_id order by c.run_id), '{}'), array_agg(c.elements order by c.run_id),
           array_agg(c.due_at order by c.run_id)
    into v_new_ids, v_elements, v_due_at from created c;
    p_are_new := cardinality(v_new_ids) = cardinality(p_ids);
    if not p_are_new then
        perform flow.refuse_foreign_ids(p_flow_id, p_ids);
    end if;
    if cardinality(v_new_ids) = 0 then
        p_progress := row('{}', '{}', '{}', '{}', '{}');
        return;
    end if;

    -- Root steps that no condition can forbid are inserted as started, all other steps as created.
    with born as (
        insert into flow.step_state (run_id, step_index, flow_id, age, remaining_deps, status, task_count, remaining_tasks,
                                     started_at, ended_at, output, queue_id, priority, message_id, queued_at,
                                     attempt, worker_id, batch, claimed_at, timeout_ms)
        select n.run_id, s.step_index, s.flow_id, n.due_at, cardinality(s.dependencies),
               case when c.task_count > 0 then 'started' when c.task_count = 0 then 'completed'
                    else 'created' end::flow.step_status,
               c.task_count, c.task_count, case when c.task_count is not null then p_now end,
               case when c.task_count = 0 then p_now end, case when c.task_count = 0 then '[]'::jsonb end,
               case when c.is_work then s.queue_id end, case when c.is_work then s.priority end,
               case when c.is_work and not h.is_handed then nextval(s.message_ids) end, case when c.is_work then p_now end,
               h.is_handed::integer, case when h.is_handed then p_offer.worker_id end, case when h.is_handed then p_offer.batch end,
               case when h.is_handed then p_now end, case when h.is_handed then s.timeout_ms end
        from unnest(v_new_ids, v_elements, v_due_at) with ordinality n(run_id, elements, due_at, ord)
        cross join lateral (
            select s.*, q.message_ids from flow.step s
            cross join lateral (select q.message_ids from flow.queue q where q.queue_id = s.queue_id offset 0) q
            where s.flow_id = p_flow_id order by s.step_index offset 0
        ) s
        cross join lateral (
            select case when cardinality(s.dependencies) > 0 or not s.starts_at_once then null
                        when s.over_step = -1 then n.elements
                        else 1 end as task_count
            offset 0
        ) t
        cross join lateral (select t.task_count, t.task_count is not null and s.over_step is null as is_work) c
        cross join lateral (
            select coalesce(n.due_at <= p_now and n.elements is distinct from 0
                            and (n.ord - 1) * cardinality(p_offer.steps) + array_position(p_offer.steps, s.step_index) <= p_offer.slots,
                            false) as is_handed
            offset 0
        ) h
        returning run_id, step_index, age, task_count, message_id, worker_id, timeout_ms
    )
    select coalesce(array_agg(row(b.run_id, b.step_index, p_flow_id, b.task_count, s.queue_id, s.priority, b.age, b.message_id,
                                  b.age + s.start_delay_ms * interval '1 ms', s.over_step)::flow.started_step
                              order by b.run_id, b.step_index)
                        filter (where b.task_count is not null and b.worker_id is null), '{}'),
           coalesce(array_agg(row(b.run_id, b.step_index, p_flow_id)::flow.step_ref order by b.run_id, b.step_index)
                        filter (where b.task_count is null and cardinality(s.dependencies) = 0), '{}'),
           coalesce(array_agg(row(b.run_id, b.step_index, -1, 1, null, b.timeout_ms, false)::flow.claim order by b.run_id, b.step_index)
                        filter (where b.worker_id is not null), '{}')
    into v_started, v_ready, v_handed
    from born b
    cross join lateral (
        select s.* from flow.step s where s.flow_id = p_flow_id and s.step_index = b.step_index offset 0
    ) s;
    p_progress := flow.count_down_runs(flow.advance_steps(v_started, v_ready, null, p_now), p_now);
    p_progress.handed := v_handed;
end $$;
