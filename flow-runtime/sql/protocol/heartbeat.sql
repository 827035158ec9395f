-- Renew the lease of a process for p_lease_ms from now, and compare what the hands of its workers list with what the workers hold.
-- p_highest is the highest batch that each of p_workers has used; p_outstanding are batches whose replies have not arrived, each with its
-- worker; p_held_… is the work that the workers hold, and p_held_over says of each piece whether it has run past its timeout without a
-- result.
-- Work that a hand lists, and that is neither held nor of an outstanding batch, never reached the worker: it is given back. Work that has
-- run for ten seconds longer than its timeout is taken away, and its attempt is used.
-- The lease of another process that ends later than its length allows, because the database's clock went back, is cut to its length.
-- Returns p_state ok | ended (then recover the hands and call flow.revive_process); p_states with reasons, one entry a worker; p_lost, the
-- places of held work that the workers hold no longer, each with the reason; p_expired, other processes whose leases are over, with the
-- lengths of the leases; p_rows, rows of hands to be recovered, each with its worker; p_next_ms, the milliseconds until the next lease of
-- another process is over; and p_tell_…, to be passed to flow.tell_others.
-- Skips runs that somebody else has locked.
create or replace function flow.heartbeat(
    p_process bigint, p_lease_ms bigint, p_workers bigint[], p_highest bigint[],
    p_outstanding_workers bigint[], p_outstanding bigint[],
    p_held_workers bigint[], p_held_runs uuid[], p_held_steps integer[], p_held_tasks integer[], p_held_batches bigint[],
    p_held_over boolean[],
    out p_state text, out p_states text[], out p_reasons text[], out p_lost bigint[], out p_lost_why text[],
    out p_expired bigint[], out p_expired_leases_ms bigint[], out p_row_workers bigint[], out p_rows bigint[], out p_next_ms bigint,
    out p_tell_queues integer[], out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql as $$
declare
    v_now timestamptz := clock_timestamp();
    v_worker record;
    v_over flow.result[];
    v_unknown flow.result[];
    v_held flow.work[];
    v_progress flow.progress := row('{}', '{}', '{}', '{}', '{}');
begin
    update flow.process p
    set lease_until = v_now + p_lease_ms * interval '1 ms', lease_ms = p_lease_ms, seen_at = v_now
    where p.process_id = p_process and p.ended_at is null and p.stopped_at is null;
    p_state := case when found then 'ok' else 'ended' end;
    select array_agg(s.state order by u.ord), array_agg(s.reason order by u.ord) into p_states, p_reasons
    from unnest(p_workers) with ordinality u(worker_id, ord) cross join lateral flow.worker_state(u.worker_id) s;

    if p_state = 'ok' then
        for v_worker in select u.worker_id, u.highest from unnest(p_workers, p_highest) u(worker_id, highest) loop
            v_over := array(
                select row(h.ord, h.run_id, h.step_index, h.task_index, h.batch, 'over', null, null, null, false)::flow.result
                from unnest(p_held_workers, p_held_runs, p_held_steps, p_held_tasks, p_held_batches, p_held_over) with ordinality
                     h(worker_id, run_id, step_index, task_index, batch, is_over, ord)
                where h.worker_id = v_worker.worker_id and h.is_over);
            if cardinality(v_over) > 0 then
                v_held := flow.lock_held(v_worker.worker_id, flow.lock_runs(v_over, false));
                v_held := array(select w from unnest(v_held) w
                                -- A claim in the future was dated before the clock went back; then the time that the worker has measured
                                -- counts.
                                where w.claimed_at > v_now
                                   or w.claimed_at + w.timeout_ms * interval '1 ms' + interval '10 s' <= v_now);
                if cardinality(v_held) > 0 then
                    v_progress := flow.join_progress(v_progress, flow.lose_work(v_held, v_now));
                end if;
            end if;

            v_unknown := array(
                select l from unnest(flow.listed_work(v_worker.worker_id)) l
                where l.batch <= v_worker.highest
                  and (v_worker.worker_id, l.batch) not in (
                      select o.worker_id, o.batch from unnest(p_outstanding_workers, p_outstanding) o(worker_id, batch))
                  and (v_worker.worker_id, l.run_id, l.step_index, l.task_index, l.batch) not in (
                      select h.worker_id, h.run_id, h.step_index, h.task_index, h.batch
                      from unnest(p_held_workers, p_held_runs, p_held_steps, p_held_tasks, p_held_batches)
                           h(worker_id, run_id, step_index, task_index, batch))
                  and flow.why_lost(v_worker.worker_id, l.run_id, l.step_index, l.task_index, l.batch) is null);
            if cardinality(v_unknown) > 0 then
                v_held := flow.lock_held(v_worker.worker_id, flow.lock_runs(v_unknown, false));
                if cardinality(v_held) > 0 then
                    v_progress.queues := v_progress.queues || flow.give_back(v_held, v_now);
                end if;
            end if;
        end loop;
        p_tell_queues := v_progress.queues;
        p_tell_runs := v_progress.ended_runs;
        p_tell_workers := v_progress.workers;
    end if;

    select array_agg(l.ord), array_agg(l.why) into p_lost, p_lost_why
    from (
        select h.ord, case when p_state = 'ok' then flow.why_lost(h.worker_id, h.run_id, h.step_index, h.task_index, h.batch)
                           else 'taken' end as why
        from unnest(p_held_workers, p_held_runs, p_held_steps, p_held_tasks, p_held_batches) with ordinality
             h(worker_id, run_id, step_index, task_index, batch, ord)
    ) l
    where l.why is not null;

    -- Leases that were written before the clock went back end too late.
    update flow.process p set lease_until = clock_timestamp() + p.lease_ms * interval '1 ms'
    from (select l.process_id from flow.process l
          where l.ended_at is null and l.stopped_at is null and l.process_id <> p_process
            and l.lease_until > clock_timestamp() + l.lease_ms * interval '1 ms'
          for update skip locked) l
    where p.process_id = l.process_id;
    select array_agg(p.process_id) filter (where p.lease_until <= v_now),
           array_agg(p.lease_ms) filter (where p.lease_until <= v_now),
           ceil(extract(epoch from min(p.lease_until) filter (where p.lease_until > v_now) - v_now) * 1000)::bigint
    into p_expired, p_expired_leases_ms, p_next_ms
    from flow.process p where p.ended_at is null and p.stopped_at is null and p.process_id <> p_process;
    select array_agg(r.worker_id), array_agg(r.batch) into p_row_workers, p_rows
    from (
        select h.worker_id, h.batch
        from flow.hand h
        left join flow.worker w on w.worker_id = h.worker_id
        left join flow.process p on p.process_id = w.process_id
        where w.worker_id is null or w.stopped_at is not null or p.process_id is null or p.ended_at is not null
           or p.stopped_at is not null
        limit 1000
    ) r;
end $$;
