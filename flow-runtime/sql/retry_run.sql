-- Run a failed or cancelled run again from where it got to: a new run with the same input takes over what has ended, and
-- its key, and is not begun before the old one was due; the old run stays as it is. Returns the new run, also when it is there already.
-- Raises WF002 when there is no such run, WF017 when it has not ended or is completed. Locks the old run.
create or replace function flow.retry_run(run_id uuid) returns uuid language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set enable_memoize = off set join_collapse_limit = 1 set plan_cache_mode = force_generic_plan set jit = off
as $$
declare
    v_old flow.run;
    v_new uuid;
    v_now timestamptz;
    v_queues integer[];
    v_ready record;
    v_advanced record;
    v_ended uuid[] := '{}';
begin
    perform flow.require_read_committed();
    select r.* into v_old from flow.run r where r.run_id = retry_run.run_id for no key update;
    if not found then
        raise exception 'there is no run %', retry_run.run_id using errcode = 'WF002';
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
    insert into flow.run (run_id, flow_id, remaining_steps, started_at, due_at, retry_of, input)
    select v_new, v_old.flow_id, count(*) filter (where ss.status not in ('completed', 'skipped')), v_now,
           greatest(v_old.due_at, v_now), v_old.run_id, v_old.input
    from flow.step_state ss where ss.run_id = v_old.run_id;
    update flow.run_key k set run_id = v_new where k.run_id = v_old.run_id;
    perform flow.copy_steps(v_old.run_id, v_new, v_now);
    v_queues := flow.requeue_tasks(v_old.run_id, v_new, greatest(v_old.due_at, v_now), v_now);

    select coalesce(array_agg(ss.run_id), '{}') as runs, coalesce(array_agg(ss.step_index), '{}') as steps,
           coalesce(array_agg(ss.flow_id), '{}') as flows
    into v_ready
    from flow.step_state ss where ss.run_id = v_new and ss.status = 'created' and ss.remaining_deps = 0;
    select * into v_advanced from flow.advance_steps('{}', v_ready.runs, v_ready.steps, v_ready.flows, v_old.due_at > v_now, v_now);
    if cardinality(v_advanced.p_failed_runs) > 0 then
        v_ended := v_advanced.p_failed_runs;
        perform flow.fail_unmet_runs(v_advanced.p_failed_runs, v_advanced.p_failed_steps, v_now);
    end if;
    if cardinality(v_advanced.p_ended) > 0 then
        v_ended := v_ended || flow.finish_runs(v_advanced.p_ended, v_now);
    end if;
    perform flow.notify_ids('flow_queue', array(select distinct q::text from unnest(v_queues || v_advanced.p_queues) q));
    perform flow.notify_ids('flow_run', v_ended::text[]);
    return v_new;
end $$;
