-- One row for each violation of an invariant (docs/behaviours.md, group I) that a look at the tables can show: which one,
-- where, and what is wrong. Empty on a healthy database, between any two transactions.
create or replace function flow.broken_rows() returns table (invariant text, run_id uuid, what text) language plpgsql as $$
declare
    v_queue record;
    v_read record;
    v_queues integer[] := '{}';
    v_ids bigint[] := '{}';
    v_bodies jsonb[] := '{}';
begin
    for v_queue in select q.queue_id, q.name from flow.queue q where q.delivery = 'pgmq' loop
        execute format('select array_agg(m.msg_id) as ids, array_agg(m.message) as bodies from pgmq.%I m', 'q_' || v_queue.name)
        into v_read;
        if v_read.ids is not null then
            v_queues := v_queues || array_fill(v_queue.queue_id, array[cardinality(v_read.ids)]);
            v_ids := v_ids || v_read.ids;
            v_bodies := v_bodies || v_read.bodies;
        end if;
    end loop;

    return query
    with message as (
        select m.queue_id, m.priority, m.age, null::bigint as message_id, m.run_id, m.step_index, m.task_index from flow.message m
        union all
        select d.queue_id, d.priority, d.age, null, d.run_id, d.step_index, d.task_index from flow.delayed d
        union all
        select m.queue_id, null, null, m.message_id, (m.body ->> 'run')::uuid, (m.body ->> 'step')::integer,
               coalesce((m.body ->> 'task')::integer, -1)
        from unnest(v_queues, v_ids, v_bodies) m(queue_id, message_id, body)
    ),
    work as (
        select k.run_id, k.step_index, k.task_index, k.queue_id, k.priority, k.age, k.message_id, k.attempt, k.status, k.worker_id, k.batch, k.is_exhausted
        from flow.task k
        union all
        select ss.run_id, ss.step_index, -1, ss.queue_id, ss.priority, ss.age, ss.message_id, ss.attempt,
               flow.work_status(ss.status, ss.skip_reason, ss.queued_at, ss.worker_id), ss.worker_id, ss.batch, ss.is_exhausted
        from flow.step_state ss where ss.queued_at is not null
    ),
    s as (
        select ss.*, d.slug, d.kind, d.dependencies, d.max_attempts, r.status as run_status,
               (select count(*) from flow.step_state o
                where o.run_id = ss.run_id and o.step_index = any (d.dependencies)
                  and o.status not in ('completed', 'skipped')) as open_deps
        from flow.step_state ss
        join flow.step d on d.flow_id = ss.flow_id and d.step_index = ss.step_index
        left join flow.run r on r.run_id = ss.run_id
    ), t as (
        select k.*, s.status as step_status, s.run_status, s.max_attempts, k.status in ('queued', 'started') as is_live,
               format('task %s.%s', k.step_index, greatest(k.task_index, 0)) as name,
               (select count(*) from flow.attempt_error e
                where e.run_id = k.run_id and e.step_index = k.step_index and e.task_index = k.task_index
                  and e.used_attempt) as errors,
               (select coalesce(max(e.attempt), 0) from flow.attempt_error e
                where e.run_id = k.run_id and e.step_index = k.step_index and e.task_index = k.task_index
                  and e.used_attempt) as last_error,
               (select count(*) from flow.suspect p
                where p.run_id = k.run_id and p.step_index = k.step_index and p.task_index = k.task_index
                  and p.queue_id = k.queue_id and p.process_id is null) as suspects
        from work k left join s on s.run_id = k.run_id and s.step_index = k.step_index
    ), live as (
        select t.run_id, t.step_index, count(*) as tasks from t where t.is_live group by t.run_id, t.step_index
    ), open_steps as (
        select s.run_id, count(*) as steps from s where s.status in ('created', 'started') group by s.run_id
    )
    select 'I1', r.run_id, format('remaining steps are %s, open are %s', r.remaining_steps, coalesce(o.steps, 0))
    from flow.run r left join open_steps o on o.run_id = r.run_id
    where r.status = 'started' and r.remaining_steps <> coalesce(o.steps, 0)
    union all
    select 'I2', s.run_id, format('step %s: remaining dependencies are %s, open are %s', s.step_index, s.remaining_deps, s.open_deps)
    from s where s.run_status = 'started' and s.status = 'created' and (s.remaining_deps <> s.open_deps or s.open_deps = 0)
    union all
    select 'I3', s.run_id, format('step %s: remaining tasks are %s, live are %s', s.step_index, s.remaining_tasks, coalesce(l.tasks, 0))
    from s left join live l on l.run_id = s.run_id and l.step_index = s.step_index
    where s.status = 'started' and (s.remaining_tasks is distinct from coalesce(l.tasks, 0)::integer + s.uncreated_tasks or l.tasks is null)
    union all
    select 'I3', s.run_id, format('map %s has %s elements without a task, its pieces have %s', s.step_index, s.uncreated_tasks, p.elements)
    from s cross join lateral (
        select coalesce(sum(jsonb_array_length(p.items)), 0) as elements from flow.piece p
        where p.run_id = s.run_id and p.step_index = s.step_index) p
    where s.status = 'started' and s.uncreated_tasks <> p.elements
    union all
    select 'I3', p.run_id, format('piece %s of map %s has %s live tasks and says %s', p.piece_index, p.step_index, n.tasks, p.live_tasks)
    from flow.piece p
    join s on s.run_id = p.run_id and s.step_index = p.step_index and s.status = 'started'
    cross join lateral (
        select count(*) as tasks from flow.task k
        where k.run_id = p.run_id and k.step_index = p.step_index and k.task_index / 1000 = p.piece_index
          and k.status in ('queued', 'started')) n
    where p.items is null and p.live_tasks <> n.tasks
    union all
    select 'I4', r.run_id, 'no live task' from flow.run r
    where r.status = 'started' and not exists (select from live l where l.run_id = r.run_id)
    union all
    select 'I5', t.run_id, format('%s is %s in a step that is %s', t.name, t.status, t.step_status)
    from t where t.is_live and t.step_status <> 'started'
    union all
    select 'I5', s.run_id, format('step %s is %s in a run that is %s', s.step_index, s.status, s.run_status)
    from s where s.status in ('created', 'started') and s.run_status <> 'started'
    union all
    select 'I6', s.run_id, format('step %s is %s in a completed run', s.step_index, s.status)
    from s where s.run_status = 'completed' and s.status not in ('completed', 'skipped')
    union all
    select 'I6', r.run_id, 'the output is not the object of the completed leaves'
    from flow.run r where r.output is distinct from (
        select case when r.status = 'completed' then coalesce(jsonb_object_agg(d.slug, ss.output), '{}') end
        from flow.step_state ss
        join flow.step d on d.flow_id = ss.flow_id and d.step_index = ss.step_index
        where ss.run_id = r.run_id and ss.status = 'completed' and not exists (
            select from flow.step o where o.flow_id = ss.flow_id and ss.step_index = any (o.dependencies)))
    union all
    select 'I7', r.run_id, format('the run is %s', r.status)
    from flow.run r where (r.status = 'failed') <> exists (
        select from flow.step_state ss where ss.run_id = r.run_id and ss.status = 'failed')
    union all
    select 'I7', s.run_id, format('step %s is cancelled in a run that is %s', s.step_index, s.run_status)
    from s where s.status = 'cancelled' and s.run_status not in ('failed', 'cancelled')
    union all
    select 'I7', t.run_id, format('%s is %s in a step that is %s', t.name, t.status, t.step_status)
    from t where t.status = 'cancelled' and t.run_status not in ('failed', 'cancelled')
              or t.status = 'skipped' and t.step_status <> 'skipped'
    union all
    select 'I8', s.run_id, format('step %s is %s before its dependencies', s.step_index, s.status)
    from s where s.status in ('started', 'completed') and s.open_deps > 0
    union all
    select 'I9', t.run_id, format('%s has attempt %s of %s', t.name, t.attempt, t.max_attempts)
    from t where t.attempt > t.max_attempts
    union all
    select 'I9', t.run_id, format('%s is %s with attempt %s and %s errors', t.name, t.status, t.attempt, t.errors)
    from t where t.last_error > t.attempt or case t.status
        when 'queued' then t.errors <> t.attempt
        when 'failed' then t.errors <> t.attempt
        when 'completed' then t.errors <> t.attempt - 1
        when 'started' then t.errors <> t.attempt - (not t.is_exhausted)::integer
        else t.errors not in (t.attempt - 1, t.attempt) end
    union all
    select 'I11', t.run_id, format('%s is held and listed %s times in the hand of its worker', t.name, h.times)
    from t cross join lateral (
        select count(*) as times from flow.hand h
        cross join lateral unnest(h.runs, h.steps, h.tasks, h.batches) u(run_id, step_index, task_index, batch)
        where h.worker_id = t.worker_id and u.run_id = t.run_id and u.step_index = t.step_index and u.task_index = t.task_index
          and u.batch = t.batch) h
    where t.status = 'started' and h.times <> 1
    union all
    select 'I9', e.run_id, format('an error of task %s.%s, which is not there', e.step_index, e.task_index)
    from flow.attempt_error e where not exists (
        select from work k
        where k.run_id = e.run_id and k.step_index = e.step_index and k.task_index = e.task_index)
    union all
    select 'I5', s.run_id, format('step %s is %s and its work is another', s.step_index, s.status)
    from s where s.kind = 'single' and (s.status = 'started' and s.queued_at is null
                                        or s.status = 'created' and s.queued_at is not null)
    union all
    select 'I12', t.run_id, format('%s is %s, has %s messages and is a suspect %s times', t.name, t.status, count(m.run_id), t.suspects)
    from t left join message m on m.queue_id = t.queue_id and m.run_id = t.run_id and m.step_index = t.step_index
         and m.task_index = t.task_index
         and case when m.message_id is null then m.priority = t.priority and m.age = t.age else m.message_id = t.message_id end
    where t.is_live group by t.run_id, t.name, t.status, t.suspects
    having count(m.run_id) + t.suspects <> (t.status = 'queued')::integer
    union all
    select 'I12', m.run_id, format('a message for %s.%s in queue %s belongs to no waiting work', m.step_index, m.task_index, m.queue_id)
    from message m where not exists (
        select from t where t.status = 'queued' and t.queue_id = m.queue_id and t.run_id = m.run_id and t.step_index = m.step_index
                        and t.task_index = m.task_index)
    union all
    select 'I12', p.run_id, format('suspect %s.%s waits and its work does not', p.step_index, p.task_index)
    from flow.suspect p where p.process_id is null and not exists (
        select from t where t.run_id = p.run_id and t.step_index = p.step_index and t.task_index = p.task_index and t.status = 'queued')
    union all
    select 'I12', p.run_id, format('suspect %s.%s is held and its work is not', p.step_index, p.task_index)
    from flow.suspect p where p.process_id is not null and not exists (
        select from t where t.run_id = p.run_id and t.step_index = p.step_index and t.task_index = p.task_index
                        and t.status = 'started' and t.worker_id = p.worker_id and t.batch = p.batch)
    union all
    select 'I12', null::uuid, format('process %s holds %s suspects, more than %s', p.process_id, count(*), min(p.suspect_limit))
    from flow.suspect p where p.process_id is not null
    group by p.process_id having count(*) > greatest(min(p.suspect_limit), 1)
    union all
    select 'I13', s.run_id, format('the output of map %s is not that of its tasks', s.step_index)
    from s where s.kind = 'map' and s.status = 'completed' and (s.taken_from is null or exists (
        select from flow.run r where r.run_id = s.taken_from)) and (
        s.output is distinct from (
            select coalesce(jsonb_agg(o.output order by o.task_index), '[]') from flow.map_outputs(s.run_id, s.step_index) o)
        or s.task_count <> jsonb_array_length(s.output))
    union all
    select 'I15', r.run_id, 'the step states are not those of the flow'
    from flow.run r where array(select d.step_index from flow.step d where d.flow_id = r.flow_id order by 1)
              <> array(select o.step_index from flow.step_state o where o.run_id = r.run_id order by 1)
    union all
    select 'I15', k.run_id, 'a key names a run that is not there or another flow''s'
    from flow.run_key k where not exists (
        select from flow.run r where r.run_id = k.run_id and r.flow_id = k.flow_id);
end $$;
