-- Find work of the given runs in queue p_queue that nobody would ever take up, because somebody has damaged the queue or a hand: waiting
-- work that has no message and is no suspect (p_waiting), and started work that no hand lists (p_held). Looks at up to p_limit pieces of
-- work, null for all.
-- The whole search reads the snapshot of the calling statement, and no transaction of the engine leaves such work in any snapshot.
create or replace function flow.stranded_work(
    p_queue flow.queue, p_runs uuid[], p_limit integer, out p_waiting flow.delivery[], out p_held flow.work[]
) language plpgsql stable as $$
declare
    v_workers bigint[];
begin
    select array_agg(w.delivery) filter (where (w.work).status = 'queued'),
           array_agg(w.work) filter (where (w.work).status = 'started')
    into p_waiting, p_held
    from (
        select w.* from unnest(p_runs) r(run_id)
        cross join lateral (
            select row(ss.queue_id, ss.priority, ss.age, ss.run_id, ss.step_index, -1, ss.message_id, null)::flow.delivery as delivery,
                   flow.single_work(ss, ss.ctid) as work
            from flow.step_state ss
            where ss.run_id = r.run_id and ss.status = 'started' and ss.queued_at is not null and ss.queue_id = p_queue.queue_id
            union all
            select row(t.queue_id, t.priority, t.age, t.run_id, t.step_index, t.task_index, t.message_id, null)::flow.delivery,
                   flow.task_work(t, t.ctid)
            from flow.step_state m
            cross join lateral flow.live_ranges(m.run_id, m.step_index, m.task_count) g
            join flow.task t on t.run_id = m.run_id and t.step_index = m.step_index
                 and t.task_index between g.lowest and g.highest and t.status in ('queued', 'started')
                 and t.queue_id = p_queue.queue_id
            where m.run_id = r.run_id and m.status = 'started' and m.queued_at is null
        ) w
        limit p_limit
    ) w;
    p_waiting := flow.missing_messages(p_queue, coalesce(p_waiting, '{}'));
    p_waiting := array(
        select d from unnest(p_waiting) d
        where not exists (
            select from flow.suspect s
            where s.run_id = d.run_id and s.step_index = d.step_index and s.task_index = d.task_index and s.process_id is null offset 0));
    -- Each hand is read once, whatever it lists: one search for each piece of work would read a worker's hand for each of ten thousand
    -- pieces.
    v_workers := array(select distinct w.worker_id from unnest(p_held) w);
    p_held := array(
        select w from unnest(p_held) w
        where (w.worker_id, w.run_id, w.step_index, w.task_index, w.batch) not in (
            select h.worker_id, u.run_id, u.step_index, u.task_index, u.batch
            from flow.hand h
            cross join lateral unnest(h.runs, h.steps, h.tasks, h.batches) u(run_id, step_index, task_index, batch)
            where h.worker_id = any (v_workers)));
end $$;
