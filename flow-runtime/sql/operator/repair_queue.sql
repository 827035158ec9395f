-- Take up the work of a queue that somebody has damaged by hand, purged or restored: waiting work without a message gets a message again,
-- due at once, and started work that no hand lists is given back without using an attempt. Delayed work and suspects need no message in the
-- queue and are not touched.
-- Returns how many pieces of work were sent and given back, and whether there is more to do: call again while has_more is true. A call
-- takes up some ten thousand pieces. Changes nothing in a sound queue, and may be called while workers run.
-- Raises WF007 when there is no such queue. Searches without locks, locks the runs with damage by id, skipping runs that somebody else has
-- locked, and searches the locked runs again.
create or replace function flow.repair_queue(queue text, out sent bigint, out given_back bigint, out has_more boolean)
language plpgsql as $$
declare
    v_most constant integer := 10000;
    v_queue flow.queue;
    v_open uuid[];
    v_runs uuid[];
    v_locked uuid[];
    v_found record;
    v_held flow.work[];
    v_worker bigint;
    v_now timestamptz;
    v_told integer[] := '{}';
begin
    perform flow.require_read_committed();
    select q.* into v_queue from flow.queue q where q.name = lower(repair_queue.queue collate "C");
    if not found then
        raise exception 'no queue "%" is registered; see flow.queues', repair_queue.queue using errcode = 'WF007';
    end if;
    sent := 0;
    given_back := 0;
    has_more := false;
    v_open := array(
        select r.run_id from (select distinct s.flow_id from flow.step s where s.queue_id = v_queue.queue_id) f
        cross join lateral (
            select r.run_id from flow.run r where r.flow_id = f.flow_id and r.status = 'started' offset 0
        ) r
        order by r.run_id);
    for i in 0 .. (cardinality(v_open) - 1) / 100 loop
        select w.* into v_found from flow.stranded_work(v_queue, v_open[i * 100 + 1:i * 100 + 100], null) w;
        v_runs := array(
            select d.run_id from unnest(v_found.p_waiting) d union select h.run_id from unnest(v_found.p_held) h order by 1);
        continue when cardinality(v_runs) = 0;
        if sent + given_back >= v_most then
            has_more := true;
            exit;
        end if;
        v_locked := array(
            select r.run_id from unnest(v_runs) u(run_id)
            cross join lateral (
                select r.run_id from flow.run r
                where r.run_id = u.run_id and r.status = 'started' for no key update skip locked
            ) r);
        has_more := has_more or cardinality(v_locked) < cardinality(v_runs);
        select w.* into v_found from flow.stranded_work(v_queue, v_locked, null) w;
        v_now := clock_timestamp();
        if cardinality(v_found.p_waiting) > 0 then
            perform flow.send_messages(
                v_found.p_waiting, array(select greatest(d.age, v_now) from unnest(v_found.p_waiting) d), v_now);
            sent := sent + cardinality(v_found.p_waiting);
            v_told := v_told || v_queue.queue_id;
        end if;
        for v_worker in select distinct h.worker_id from unnest(v_found.p_held) h order by 1 loop
            v_held := flow.lock_held(v_worker, array(
                select row(row_number() over (), h.run_id, h.step_index, h.task_index, h.batch, 'listed', null, null, null, false)::flow.result
                from unnest(v_found.p_held) h where h.worker_id = v_worker));
            if cardinality(v_held) > 0 then
                v_told := v_told || flow.give_back(v_held, v_now);
                given_back := given_back + cardinality(v_held);
            end if;
        end loop;
    end loop;
    perform flow.tell(row('{}', '{}', v_told, '{}', '{}'));
end $$;
