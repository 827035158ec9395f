-- Run a failed or cancelled run again from where it stopped: a new run with the same input takes over the steps and tasks that ended well,
-- and the idempotency key. The new run is not due before the old run was. The old run stays as it is.
-- Returns the new run's id; when the run was retried already, the id of that retry.
-- Raises WF002 when there is no such run or it is being removed, WF017 when it has not ended or is completed. Shares the lock of the flow's
-- starts, then locks the old run.
create or replace function flow.retry_run(run_id uuid) returns uuid language plpgsql as $$
declare
    v_old flow.run;
    v_new uuid;
    v_now timestamptz;
    v_due_at timestamptz;
    v_queues integer[];
    v_ready flow.step_ref[];
    v_progress flow.progress;
begin
    perform flow.require_read_committed();
    perform flow.lock_starts(f.slug, false)
    from flow.run r join flow.flow f on f.flow_id = r.flow_id where r.run_id = retry_run.run_id;
    select r.* into v_old from flow.run r where r.run_id = retry_run.run_id for no key update;
    if not found then
        raise exception 'there is no run %', retry_run.run_id using errcode = 'WF002';
    end if;
    if exists (select from flow.removal m where m.run_id = v_old.run_id)
       or exists (select from flow.flow f where f.flow_id = v_old.flow_id and f.deleted_at is not null) then
        raise exception 'run % is being removed, by flow.prune or flow.delete_flow; start a new one', v_old.run_id
            using errcode = 'WF002';
    end if;
    if v_old.status not in ('failed', 'cancelled') then
        raise exception 'run % is %; only a failed or cancelled run can be retried', v_old.run_id, v_old.status
            using errcode = 'WF017';
    end if;
    select r.run_id into v_new from flow.run r where r.retry_of = v_old.run_id;
    if found then
        return v_new;
    end if;

    v_new := flow.uuid_v7();
    v_now := clock_timestamp();
    v_due_at := greatest(v_old.due_at, v_now);
    insert into flow.run (run_id, flow_id, remaining_steps, started_at, due_at, retry_of, input)
    select v_new, v_old.flow_id, count(*) filter (where ss.status not in ('completed', 'skipped')), v_now,
           v_due_at, v_old.run_id, v_old.input
    from flow.step_state ss where ss.run_id = v_old.run_id;
    update flow.run_key k set run_id = v_new where k.run_id = v_old.run_id;
    perform flow.copy_steps(v_old.run_id, v_new, v_due_at, v_now);
    v_queues := flow.requeue_work(v_old.run_id, v_new, v_due_at, v_now);

    v_ready := array(select row(ss.run_id, ss.step_index, ss.flow_id)::flow.step_ref from flow.step_state ss
                     where ss.run_id = v_new and ss.status = 'created' and ss.remaining_deps = 0);
    v_progress := flow.advance_steps('{}', v_ready, null, v_now);
    v_progress := flow.count_down_runs(v_progress, v_now);
    v_progress.queues := v_queues || v_progress.queues;
    perform flow.tell(v_progress);
    return v_new;
end $$;
