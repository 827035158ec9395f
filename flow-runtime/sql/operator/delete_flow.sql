-- Delete a flow with its steps, runs, keys, contract, workers and private queues. Shared queues stay. A call ends and removes some ten
-- thousand rows, so a flow with more takes several calls. From the first call on nobody starts, retries or deploys the flow.
-- Returns how many runs this call has ended or begun to remove, and whether the flow is gone, as {"started": …, "ended": …, "done": …}:
-- call again until done is true.
-- Raises WF001 when there is no such flow; without force, WF016 when a worker of the flow is alive, and WF018 when runs have not ended;
-- 55P03 when an open transaction has started runs. ends_runs alone waives WF018 only.
-- A live worker learns that it is gone at its next call. Locks the slug, starts of the flow, then runs by id with all that belongs to them.
create or replace function flow.delete_flow(slug text, force boolean default false, ends_runs boolean default false)
returns jsonb language plpgsql as $$
declare
    v_most constant integer := 10000;
    v_flow record;
    v_worker record;
    v_queue text;
    v_runs uuid[];
    v_counts record;
begin
    perform flow.require_read_committed();
    perform flow.lock_slug(slug);
    select f.flow_id, f.deleted_at into v_flow from flow.flow f where f.slug = delete_flow.slug;
    if not found then
        raise exception 'flow "%" is not deployed', slug using errcode = 'WF001';
    end if;
    if v_flow.deleted_at is null then
        select w.worker_id, w.name into v_worker from flow.worker w
        where w.flow_id = v_flow.flow_id and w.stopped_at is null and flow.is_alive(w)
        order by w.worker_id limit 1;
        if found and not force then
            raise exception 'worker % ("%") of flow "%" is alive; stop it first, or delete with force', v_worker.worker_id,
                v_worker.name, slug using errcode = 'WF016';
        end if;
        -- Counted before the lock, so that a deletion that is refused keeps nobody from starting runs, and once more under the lock.
        for v_pass in 1 .. 2 loop
            if not force and not ends_runs then
                select count(*) filter (where r.status = 'started') as started, count(*) filter (where r.status <> 'started') as ended
                into v_counts from flow.run r where r.flow_id = v_flow.flow_id;
                if v_counts.started > 0 then
                    raise exception 'flow "%" has % runs that have not ended, and % that have; let them end, cancel them, or delete '
                        'with force', slug, v_counts.started, v_counts.ended
                        using errcode = 'WF018', detail = jsonb_build_object('started', v_counts.started, 'ended', v_counts.ended);
                end if;
            end if;
            if v_pass = 1 then
                perform flow.lock_starts(slug, true);
            end if;
        end loop;
        update flow.flow f set deleted_at = clock_timestamp() where f.flow_id = v_flow.flow_id;
        delete from flow.hand h using flow.worker w where w.flow_id = v_flow.flow_id and h.worker_id = w.worker_id;
        delete from flow.worker w where w.flow_id = v_flow.flow_id;
    end if;

    v_runs := flow.fit_runs(array(
        select r.run_id from flow.run r where r.flow_id = v_flow.flow_id order by r.started_at, r.run_id limit 1000), v_most);
    -- Lock the runs first, by id: every transaction that settles or cancels one of them has ended by then.
    perform from (select u.run_id from unnest(v_runs) u(run_id) order by u.run_id) u
    cross join lateral (select from flow.run r where r.run_id = u.run_id for update) r;
    select count(*) filter (where r.status = 'started') as started, count(*) filter (where r.status <> 'started') as ended,
           array_agg(row(r.run_id, null, null)::flow.cause) filter (where r.status = 'started') as causes
    into v_counts
    from unnest(v_runs) u(run_id)
    cross join lateral (select r.run_id, r.status from flow.run r where r.run_id = u.run_id offset 0) r
    where r.run_id <> all (array(select m.run_id from flow.removal m));
    -- Messages are removed one by one, because a shared queue is not dropped with the flow.
    if v_counts.causes is not null then
        perform flow.abort_runs(v_counts.causes, 'cancelled', clock_timestamp());
    end if;
    perform flow.remove_runs(v_runs, v_most);
    if exists (select from flow.run r where r.flow_id = v_flow.flow_id) then
        return jsonb_build_object('started', v_counts.started, 'ended', v_counts.ended, 'done', false);
    end if;

    delete from flow.run_key k where k.flow_id = v_flow.flow_id;
    delete from flow.oldest_run o where o.flow_id = v_flow.flow_id;
    delete from flow.contract c where c.flow_id = v_flow.flow_id;
    delete from flow.step s where s.flow_id = v_flow.flow_id;
    for v_queue in select q.name from flow.queue q where q.flow_id = v_flow.flow_id order by q.name loop
        perform flow.drop_queue(v_queue);
    end loop;
    delete from flow.flow f where f.flow_id = v_flow.flow_id;
    return jsonb_build_object('started', v_counts.started, 'ended', v_counts.ended, 'done', true);
end $$;
