-- Claim suspects that wait in the worker's queue, the oldest first, under number p_batch of its exchange, which has already handed out
-- p_handed of at most p_limit pieces of work.
-- Two limits hold. The process may hold as many suspects as the smallest suspect_limit among them. The worker may hold as many suspects as
-- half of what it holds and asks for, at least one. The oldest suspect that does not fit blocks the younger ones.
-- A suspect of limit 0 must be alone: it is claimed only when the process holds nothing else. While such a suspect is the oldest of the
-- queue or is held, the process is closed (p_is_closed) and claims nothing else.
-- Returns p_state (ok | misrouted) with the reason, the claims, and p_more: the worker is to come again at once, because another exchange
-- of the process kept this one from claiming, or because a run was failed here.
-- With p_careful at most one suspect is claimed; when its values cannot be sent, its run is failed.
-- Locks suspects, then their work, and skips locked rows: never waits.
create or replace function flow.claim_suspects(
    p_self flow.worker_state, p_batch bigint, p_limit integer, p_handed integer, p_careful boolean, p_now timestamptz,
    inout p_is_closed boolean, out p_state text, out p_reason text, out p_more boolean, out p_claims flow.claim[]
) language plpgsql as $$
declare
    v_oldest record;
    v_held record; -- suspects that the process holds
    v_own record; -- what the worker holds
    v_room integer;
    v_rows tid[];
    v_seen flow.message_class[];
begin
    p_state := 'ok';
    p_more := not pg_try_advisory_xact_lock(-p_self.process_id);
    if p_more then
        return;
    end if;
    -- The reads below are statements after the lock, so that they see what other workers of the process claimed under the lock before.
    select s.suspect_limit into v_oldest from flow.suspect s
    where s.queue_id = p_self.queue_id and s.process_id is null
    order by s.queued_at, s.run_id, s.step_index, s.task_index limit 1;
    if v_oldest.suspect_limit = 0 then
        p_is_closed := true;
        if p_handed > 0 or exists (select from flow.count_company(p_self.process_id) c where c.p_suspects + c.p_others > 0) then
            return;
        end if;
        -- Every exchange of the process shares this lock, so taking it alone shows that no other exchange is claiming now. The count is
        -- read once more after the lock, to see what earlier exchanges have claimed.
        p_more := not pg_try_advisory_xact_lock(p_self.process_id);
        if p_more or exists (select from flow.count_company(p_self.process_id) c where c.p_suspects + c.p_others > 0) then
            return;
        end if;
        v_room := 1;
    elsif p_is_closed or v_oldest.suspect_limit is null then
        return;
    end if;
    select count(*)::integer as suspects, min(s.suspect_limit) as least into v_held
    from flow.suspect s where s.process_id = p_self.process_id;
    if v_room is null then
        v_room := least(p_limit - p_handed, v_held.least - v_held.suspects, case when p_careful then 1 end);
        -- Counting what a worker holds reads each piece of work, so the count is made only where the process has room.
        if v_room > 0 then
            select * into v_own from flow.count_held(p_self.worker_id);
            v_room := least(v_room, greatest((v_own.p_suspects + v_own.p_others + p_limit) / 2, 1) - v_own.p_suspects);
        end if;
    end if;
    if v_room <= 0 then
        return;
    end if;

    with waiting as (
        select s.ctid as suspect_row, s.run_id, s.step_index, s.task_index, s.queued_at, s.suspect_limit
        from flow.suspect s
        where s.queue_id = p_self.queue_id and s.process_id is null
        order by s.queued_at, s.run_id, s.step_index, s.task_index limit v_room for update skip locked
    ), ranked as (
        select w.*, row_number() over o as place, min(w.suspect_limit) over o as least
        from waiting w
        window o as (order by w.queued_at, w.run_id, w.step_index, w.task_index rows unbounded preceding)
    )
    select array_agg(m.suspect_row order by m.place),
           array_agg(row(null::flow.delivery, m.run_id, m.step_index, m.task_index, w.row_id, w.attempt, w.item, s.timeout_ms,
                         case when w.row_id is null then 'busy'
                              when w.status <> 'queued' then 'ended'
                              when w.flow_id <> p_self.flow_id or m.step_index <> all (p_self.steps) then 'misrouted'
                              when w.attempt >= s.max_attempts then 'exhausted'
                              else 'queued' end)::flow.message_class order by m.place)
    into v_rows, v_seen
    from ranked m
    left join lateral (
        select l.ctid as row_id, flow.work_status(l.status, l.skip_reason, l.queued_at, l.worker_id) as status, l.flow_id, l.attempt
        from flow.step_state l
        where m.task_index < 0 and l.run_id = m.run_id and l.step_index = m.step_index
        for update skip locked
    ) ss on true
    left join lateral (
        select l.ctid as row_id, l.status, l.flow_id, l.attempt, l.item
        from flow.task l
        where m.task_index >= 0 and l.run_id = m.run_id and l.step_index = m.step_index and l.task_index = m.task_index
        for update skip locked
    ) t on true
    cross join lateral (
        select coalesce(ss.row_id, t.row_id) as row_id, coalesce(ss.status, t.status) as status,
               coalesce(ss.flow_id, t.flow_id) as flow_id, coalesce(ss.attempt, t.attempt) as attempt, t.item
    ) w
    left join lateral (
        select s.timeout_ms, s.max_attempts from flow.step s
        where s.flow_id = w.flow_id and s.step_index = m.step_index offset 0
    ) s on true
    where case when p_is_closed then m.suspect_limit = 0 else v_held.suspects + m.place <= least(m.least, v_held.least) end;
    if v_seen is null then
        return;
    end if;
    if exists (select from unnest(v_seen) b where b.kind = 'misrouted') then
        select r.p_state, r.p_reason into p_state, p_reason from flow.refuse_batch(p_self, v_seen) r;
        return;
    end if;

    begin
        p_claims := flow.hold_work(p_self, p_batch, v_seen, p_now);
        if p_careful then
            perform flow.shared_values(p_self, p_claims);
        end if;
    exception when data_exception or program_limit_exceeded or out_of_memory or internal_error then
        if not p_careful then
            raise;
        end if;
        perform flow.fail_unclaimable(
            p_self, row(null, null, null, v_seen[1].run_id, v_seen[1].step_index, v_seen[1].task_index, null, null)::flow.delivery, sqlerrm,
            p_now);
        p_claims := null;
        p_more := true;
        return;
    end;
    update flow.suspect s
    set process_id = p_self.process_id, worker_id = p_self.worker_id, batch = p_batch
    from unnest(v_rows, v_seen) u(
        suspect_row, delivery, run_id, step_index, task_index, row_id, attempt, item, timeout_ms, kind)
    where s.ctid = u.suspect_row and u.kind in ('queued', 'exhausted');
    delete from flow.suspect s
    using unnest(v_rows, v_seen) u(
        suspect_row, delivery, run_id, step_index, task_index, row_id, attempt, item, timeout_ms, kind)
    where s.ctid = u.suspect_row and u.kind = 'ended';
    if p_is_closed and p_claims is not null then
        -- Wakes the processes that were closed while this suspect waited for one of them to be empty: they may claim again.
        perform flow.notify_ids('flow_queue', array[p_self.queue_id::text]);
    end if;
end $$;
