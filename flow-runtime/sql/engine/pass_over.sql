-- Do what is to be done with the messages of a batch that were not claimed, or whose work was lost by its holder before.
create or replace function flow.pass_over(p_self flow.worker_state, p_batch flow.sighting[], p_now timestamptz)
returns void language plpgsql as $$
begin
    perform flow.queue_hide(
        p_self.queue, array_agg(b.message_id),
        array_agg(case b.kind when 'busy' then p_now + interval '1 s' else b.lease_until end))
    from unnest(p_batch) b where b.kind in ('busy', 'duplicate') having count(*) > 0;
    perform flow.queue_remove(p_self.queue, array_agg(b.message_id))
    from unnest(p_batch) b where b.kind = 'terminal' having count(*) > 0;
    -- Waiting work is exhausted too when its step has been given fewer attempts since; its last failure is on record.
    insert into flow.attempt_error (run_id, step_index, task_index, attempt, cause, error, worker_id, at)
    select b.run_id, b.step_index, b.task_index, b.attempt, 'lease_expired',
           'the lease ended before the attempt was settled', b.worker_id, p_now
    from unnest(p_batch) b where b.lease_until is not null and b.kind in ('expired', 'exhausted')
    on conflict (run_id, step_index, task_index, attempt) do nothing;
end $$;
