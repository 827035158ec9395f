-- Claim the waiting work of p_seen (kinds `queued` and `exhausted`) for the worker, under number p_batch of its exchange. Queued work gets
-- its next attempt; exhausted work keeps its attempt number and is handed over only to be failed.
-- Returns the claims in order, null when there are none. Raises WF021 when a row of the work has changed although it is locked.
create or replace function flow.hold_work(
    p_self flow.worker_state, p_batch bigint, p_seen flow.message_class[], p_now timestamptz
) returns flow.claim[] language plpgsql as $$
declare
    v_claims flow.claim[];
    v_singles integer;
    v_tasks integer;
begin
    update flow.step_state ss
    set worker_id = p_self.worker_id, batch = p_batch, claimed_at = p_now, timeout_ms = b.timeout_ms,
        is_exhausted = b.kind = 'exhausted',
        attempt = b.attempt + case when b.kind = 'exhausted' then 0 else 1 end
    from unnest(p_seen) b
    where b.task_index < 0 and b.kind in ('queued', 'exhausted') and ss.ctid = b.row_id;
    get diagnostics v_singles = row_count;
    update flow.task t
    set status = 'started', worker_id = p_self.worker_id, batch = p_batch, claimed_at = p_now, timeout_ms = b.timeout_ms,
        is_exhausted = b.kind = 'exhausted', attempt = b.attempt + case when b.kind = 'exhausted' then 0 else 1 end
    from unnest(p_seen) b
    where b.task_index >= 0 and b.kind in ('queued', 'exhausted') and t.ctid = b.row_id;
    get diagnostics v_tasks = row_count;
    select array_agg(row(b.run_id, b.step_index, b.task_index,
                         b.attempt + case when b.kind = 'exhausted' then 0 else 1 end, b.item, b.timeout_ms,
                         b.kind = 'exhausted')::flow.claim)
    into v_claims from unnest(p_seen) b where b.kind in ('queued', 'exhausted');
    if coalesce(cardinality(v_claims), 0) <> v_singles + v_tasks then
        raise exception 'queue "%": % messages were taken and % pieces of work claimed', p_self.queue, cardinality(v_claims),
            v_singles + v_tasks using errcode = 'WF021';
    end if;
    return v_claims;
end $$;
