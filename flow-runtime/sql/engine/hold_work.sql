-- Claim for a worker what of a batch waits, has lost its lease, or has no attempt left. Returns it as the worker gets it, in order.
create or replace function flow.hold_work(
    p_self flow.worker_state, p_batch flow.sighting[], p_now timestamptz, p_lease_until timestamptz
) returns flow.claim[] language plpgsql as $$
declare
    v_claims flow.claim[];
    v_singles integer;
    v_tasks integer;
begin
    update flow.step_state ss
    set worker_id = p_self.worker_id, claimed_at = p_now, lease_until = p_lease_until, is_exhausted = b.kind = 'exhausted',
        attempt = b.attempt + case when b.kind = 'exhausted' then 0 else 1 end
    from unnest(p_batch) b
    where b.task_index < 0 and b.kind in ('queued', 'expired', 'exhausted') and ss.ctid = b.row_id;
    get diagnostics v_singles = row_count;
    update flow.task t
    set status = 'started', worker_id = p_self.worker_id, claimed_at = p_now, lease_until = p_lease_until,
        is_exhausted = b.kind = 'exhausted', attempt = b.attempt + case when b.kind = 'exhausted' then 0 else 1 end
    from unnest(p_batch) b
    where b.task_index >= 0 and b.kind in ('queued', 'expired', 'exhausted') and t.ctid = b.row_id;
    get diagnostics v_tasks = row_count;
    select array_agg(row(b.run_id, b.step_index, b.task_index,
                         b.attempt + case when b.kind = 'exhausted' then 0 else 1 end, b.item, b.timeout_ms,
                         b.kind = 'exhausted')::flow.claim)
    into v_claims from unnest(p_batch) b where b.kind in ('queued', 'expired', 'exhausted');
    if coalesce(cardinality(v_claims), 0) <> v_singles + v_tasks then
        raise exception 'queue "%": % messages were hidden and % pieces of work claimed', p_self.queue, cardinality(v_claims),
            v_singles + v_tasks using errcode = 'WF021';
    end if;
    return v_claims;
end $$;
