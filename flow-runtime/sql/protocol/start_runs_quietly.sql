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
    v_inputs jsonb[];
    v_limit bigint;
    v_bad record;
    v_new_ids uuid[];
    v_elements integer[]; -- of the inputs that are arrays
    v_is_held_back boolean;
    v_started flow.started_step[];
    v_ready flow.step_ref[];
    v_progress flow.progress;
begin
    perform flow.require_read_committed();
    perform flow.lock_starts(p_slug, false);
    select f.flow_id, f.slug, f.step_count into v_flow from flow.flow f where f.slug_key = lower(p_slug collate "C");
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
    perform flow.check_start(p_inputs, p_run_ids, p_keys, p_start_at);

    select (s.value)::bigint into v_limit from flow.setting s where s.name = 'max_value_bytes';
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
    cross join lateral flow.value_error(o.text, o.input, v_limit) e
    where flow.is_doubtful(o.text, v_limit) and e.p_error is not null order by o.ord limit 1;
    if found then
        raise exception 'input % %', v_bad.ord, v_bad.p_error using errcode = v_bad.p_code;
    end if;
    select o.ord, s.slug, coalesce(jsonb_typeof(o.input), 'nothing') as kind into v_bad
    from unnest(v_inputs) with ordinality o(input, ord)
    cross join (select s.slug from flow.step s
                where s.flow_id = v_flow.flow_id and s.over_step = -1 order by s.step_index limit 1) s
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
        p_ids := flow.take_keys(v_flow.flow_id, p_keys, p_ids);
    end if;

    with created as (
        insert into flow.run (run_id, flow_id, remaining_steps, started_at, due_at, input)
        select n.run_id, v_flow.flow_id, v_flow.step_count, v_now, greatest(n.start_at, v_now), n.input
        from (select distinct on (n.run_id) n.run_id, n.input, n.start_at
              from unnest(p_ids, v_inputs, p_start_at) with ordinality n(run_id, input, start_at, ord)
              order by n.run_id, n.ord) n
        order by n.run_id
        on conflict (run_id) do nothing
        returning run_id, due_at, case when jsonb_typeof(input) = 'array' then jsonb_array_length(input) end as elements
    )
    select coalesce(array_agg(c.run_id order by c.run_id), '{}'), array_agg(c.elements order by c.run_id),
           bool_or(c.due_at > v_now)
    into v_new_ids, v_elements, v_is_held_back from created c;
    if cardinality(v_new_ids) < cardinality(p_ids) then
        select n.run_id, f.slug into v_bad
        from unnest(p_ids) n(run_id)
        cross join lateral (select r.flow_id from flow.run r where r.run_id = n.run_id offset 0) r
        join flow.flow f on f.flow_id = r.flow_id
        where r.flow_id <> v_flow.flow_id limit 1;
        if found then
            raise exception 'run id % belongs to flow "%", not to "%"; use another id', v_bad.run_id, v_bad.slug,
                p_slug using errcode = 'WF005';
        end if;
    end if;
    if p_is_repeat then
        p_tell_queues := array(select q.queue_id from flow.queue q where q.flow_id = v_flow.flow_id);
    end if;
    if cardinality(v_new_ids) = 0 then
        return;
    end if;

    -- Steps without dependencies that no condition can forbid are born started; the others wait.
    with born as (
        insert into flow.step_state (run_id, step_index, flow_id, remaining_deps, status, task_count, remaining_tasks,
                                     started_at, ended_at, output, queue_id, message_id, queued_at)
        select n.run_id, s.step_index, s.flow_id, cardinality(s.dependencies),
               case when c.task_count > 0 then 'started' when c.task_count = 0 then 'completed'
                    else 'created' end::flow.step_status,
               c.task_count, c.task_count, case when c.task_count is not null then v_now end,
               case when c.task_count = 0 then v_now end, case when c.task_count = 0 then '[]'::jsonb end,
               case when c.is_work then s.queue_id end, case when c.is_work then nextval(s.message_ids) end,
               case when c.is_work then v_now end
        from unnest(v_new_ids, v_elements) n(run_id, elements)
        cross join lateral (
            select s.*, q.message_ids from flow.step s
            cross join lateral (select q.message_ids from flow.queue q where q.queue_id = s.queue_id offset 0) q
            where s.flow_id = v_flow.flow_id order by s.step_index offset 0
        ) s
        cross join lateral (
            select case when cardinality(s.dependencies) > 0 or not s.starts_at_once then null
                        when s.over_step = -1 then n.elements
                        else 1 end as task_count
            offset 0
        ) t
        cross join lateral (select t.task_count, t.task_count is not null and s.over_step is null as is_work) c
        returning run_id, step_index, task_count, message_id
    )
    select coalesce(array_agg(row(b.run_id, b.step_index, v_flow.flow_id, b.task_count, s.queue_id, b.message_id,
                                  v_now + s.start_delay_ms * interval '1 ms', s.over_step)::flow.started_step
                              order by b.run_id, b.step_index)
                        filter (where b.task_count is not null), '{}'),
           coalesce(array_agg(row(b.run_id, b.step_index, v_flow.flow_id)::flow.step_ref order by b.run_id, b.step_index)
                        filter (where b.task_count is null and cardinality(s.dependencies) = 0), '{}')
    into v_started, v_ready
    from born b
    cross join lateral (
        select s.* from flow.step s where s.flow_id = v_flow.flow_id and s.step_index = b.step_index offset 0
    ) s;
    v_progress := flow.advance_steps(v_started, v_ready, null, v_is_held_back, v_now);
    v_progress := flow.count_down_runs(v_progress, v_now);
    p_tell_queues := p_tell_queues || v_progress.queues;
    p_tell_runs := v_progress.ended_runs;
    p_tell_workers := v_progress.workers;
end $$;
