-- Delete a flow with its steps, runs, keys, contract, workers and private queues. Shared queues stay. Returns how many runs went with
-- it, as {"started": …, "ended": …}.
-- Raises WF001 when there is no such flow; WF016 when a worker of it is alive, and WF018 when runs have not ended, unless forced.
-- With ends_runs alone runs that have not ended are no hindrance. A live worker is told that it is gone at its next call. Locks the slug, starts of the flow, its runs by id, then all that hangs on them.
create or replace function flow.delete_flow(slug text, force boolean default false, ends_runs boolean default false)
returns jsonb language plpgsql as $$
declare
    v_flow_id integer;
    v_worker record;
    v_queue text;
    v_started bigint;
    v_ended bigint;
begin
    perform flow.require_read_committed();
    perform flow.lock_slug(slug);
    select f.flow_id into v_flow_id from flow.flow f where f.slug = delete_flow.slug;
    if not found then
        raise exception 'flow "%" is not deployed', slug using errcode = 'WF001';
    end if;
    select w.worker_id, w.name into v_worker from flow.worker w
    where w.flow_id = v_flow_id and w.stopped_at is null and flow.is_alive(w)
    order by w.worker_id limit 1;
    if found and not force then
        raise exception 'worker % ("%") of flow "%" is alive; stop it first, or delete with force', v_worker.worker_id,
            v_worker.name, slug using errcode = 'WF016';
    end if;

    -- The runs' locks first, in order: whoever settles or cancels one of them has ended by then.
    perform flow.lock_starts(slug, true);
    perform from flow.run r where r.flow_id = v_flow_id order by r.run_id for update;
    select count(*) filter (where r.status = 'started'), count(*) filter (where r.status <> 'started') into v_started, v_ended
    from flow.run r where r.flow_id = v_flow_id;
    if v_started > 0 and not force and not ends_runs then
        raise exception 'flow "%" has % runs that have not ended, and % that have; let them end, cancel them, or delete with force',
            slug, v_started, v_ended using errcode = 'WF018', detail = jsonb_build_object('started', v_started, 'ended', v_ended);
    end if;
    -- A shared queue stays, so messages are taken out of it one by one.
    perform flow.end_runs(
        array(select row(r.run_id, null, null)::flow.cause from flow.run r where r.flow_id = v_flow_id and r.status = 'started'),
        'cancelled', clock_timestamp());
    delete from flow.attempt_error e using flow.run r where r.flow_id = v_flow_id and e.run_id = r.run_id;
    delete from flow.task t using flow.run r where r.flow_id = v_flow_id and t.run_id = r.run_id;
    delete from flow.piece p using flow.run r where r.flow_id = v_flow_id and p.run_id = r.run_id;
    delete from flow.step_state ss using flow.run r where r.flow_id = v_flow_id and ss.run_id = r.run_id;
    delete from flow.run_key k where k.flow_id = v_flow_id;
    delete from flow.run r where r.flow_id = v_flow_id;
    delete from flow.hand h using flow.worker w where w.flow_id = v_flow_id and h.worker_id = w.worker_id;
    delete from flow.worker w where w.flow_id = v_flow_id;
    delete from flow.contract c where c.flow_id = v_flow_id;
    delete from flow.step s where s.flow_id = v_flow_id;
    for v_queue in select q.name from flow.queue q where q.flow_id = v_flow_id order by q.name loop
        perform flow.drop_queue(v_queue);
    end loop;
    delete from flow.flow f where f.flow_id = v_flow_id;
    return jsonb_build_object('started', v_started, 'ended', v_ended);
end $$;
