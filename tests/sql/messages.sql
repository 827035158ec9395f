-- What tests see of messages, and do to them, whatever the delivery of a queue is.
create schema test;

-- Every message: its queue, whose work it announces (task -1 is a single step), and when it is due; null when it is due already and
-- nothing says since when.
create function test.messages() returns table (
    queue text, message_id bigint, run_id uuid, step_index integer, task_index integer, due_at timestamptz
) language plpgsql as $$
declare
    v_queue text;
begin
    return query
        select q.name, null::bigint, m.run_id, m.step_index, m.task_index, null::timestamptz
        from flow.message m join flow.queue q using (queue_id)
        union all
        select q.name, null, d.run_id, d.step_index, d.task_index, d.due_at from flow.delayed d join flow.queue q using (queue_id);
    for v_queue in select q.name from flow.queue q where q.delivery = 'pgmq' loop
        return query execute format(
            'select $1, m.msg_id, (m.message ->> ''run'')::uuid, (m.message ->> ''step'')::integer,
                    coalesce((m.message ->> ''task'')::integer, -1), m.vt
             from pgmq.%I m', 'q_' || v_queue) using v_queue;
    end loop;
end $$;

-- As if the time had come: every delayed message is due.
create function test.make_due() returns void language plpgsql as $$
declare
    v_queue text;
begin
    update flow.delayed d set due_at = least(d.due_at, clock_timestamp());
    for v_queue in select q.name from flow.queue q where q.delivery = 'pgmq' loop
        execute format('update pgmq.%I set vt = least(vt, clock_timestamp())', 'q_' || v_queue);
    end loop;
end $$;

-- Put the messages that satisfy a condition on test.messages() off until p_until.
create function test.put_off(p_until timestamptz default 'infinity', p_which text default 'true') returns void language plpgsql as $$
declare
    v_queue text;
begin
    create temporary table picked on commit drop as select * from test.messages() limit 0;
    execute format('insert into picked select * from test.messages() m where %s', p_which);
    insert into flow.delayed (run_id, step_index, task_index, queue_id, priority, age, due_at)
    select m.run_id, m.step_index, m.task_index, m.queue_id, m.priority, m.age, p_until
    from flow.message m join picked p using (run_id, step_index, task_index)
    on conflict (run_id, step_index, task_index) do update set due_at = excluded.due_at;
    delete from flow.message m using picked p
    where (m.run_id, m.step_index, m.task_index) = (p.run_id, p.step_index, p.task_index);
    update flow.delayed d set due_at = p_until from picked p
    where (d.run_id, d.step_index, d.task_index) = (p.run_id, p.step_index, p.task_index);
    for v_queue in select q.name from flow.queue q where q.delivery = 'pgmq' loop
        execute format('update pgmq.%I set vt = $1 where msg_id in (select p.message_id from picked p where p.queue = $2)',
                       'q_' || v_queue)
        using p_until, v_queue;
    end loop;
    drop table picked;
end $$;

-- A message that somebody else writes, or the one that the work had before.
create function test.write_message(
    p_queue text, p_run uuid, p_step integer, p_task integer, p_due_at timestamptz default now()
) returns void language plpgsql as $$
declare
    v_queue flow.queue;
    v_work record;
begin
    select * into v_queue from flow.queue q where q.name = p_queue;
    select ss.priority, ss.age, ss.message_id into v_work
    from flow.step_state ss where p_task < 0 and ss.run_id = p_run and ss.step_index = p_step
    union all
    select t.priority, t.age, t.message_id
    from flow.task t where t.run_id = p_run and t.step_index = p_step and t.task_index = p_task;
    if v_queue.delivery = 'pgmq' then
        execute format('insert into pgmq.%I (msg_id, vt, message) overriding system value values ($1, $2, $3)', 'q_' || p_queue)
        using coalesce((select v_work.message_id where v_work.message_id not in (
                            select m.message_id from test.messages() m where m.queue = p_queue)), nextval(v_queue.message_ids)),
              p_due_at, jsonb_build_object('run', p_run, 'step', p_step)
                        || case when p_task < 0 then '{}' else jsonb_build_object('task', p_task) end;
    else
        insert into flow.message (queue_id, priority, age, run_id, step_index, task_index)
        values (v_queue.queue_id, coalesce(v_work.priority, 5), coalesce(v_work.age, now()), p_run, p_step, p_task)
        on conflict do nothing;
    end if;
end $$;
