-- Take back the work that one row of a worker's hand lists, when the worker or its process has stopped, was ended or is gone. After a stop
-- no attempt is used; else the work is lost as flow.lose_in_company says. Work of runs that somebody else has locked stays listed.
-- Returns whether nothing is left to take back (p_is_done), and p_tell_… for flow.tell_others. Locks the row, then runs that nobody else
-- has locked, then their work.
create or replace function flow.recover_hand(
    p_worker bigint, p_row bigint,
    out p_is_done boolean, out p_tell_queues integer[], out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql as $$
declare
    v_owner record;
    v_listed flow.result[];
    v_locked flow.result[];
    v_held flow.work[];
    v_now timestamptz;
    v_progress flow.progress := row('{}', '{}', '{}', '{}', '{}');
begin
    perform from flow.hand h where h.worker_id = p_worker and h.batch = p_row for update skip locked;
    p_is_done := true;
    if not found then
        return;
    end if;
    select w.stopped_at is not null or p.stopped_at is not null as has_stopped,
           w.worker_id is null or p.process_id is null or p.ended_at is not null as was_ended, w.process_id
    into v_owner
    from (values (p_worker)) v(worker_id)
    left join flow.worker w on w.worker_id = v.worker_id
    left join flow.process p on p.process_id = w.process_id;
    if not (v_owner.has_stopped or v_owner.was_ended) then
        return;
    end if;

    v_listed := flow.listed_work(p_worker, p_row);
    v_locked := flow.lock_runs(v_listed, false);
    v_now := clock_timestamp();
    v_held := flow.lock_held(p_worker, v_locked);
    if cardinality(v_held) > 0 and v_owner.has_stopped then
        v_progress.queues := flow.give_back(v_held, v_now);
    elsif cardinality(v_held) > 0 then
        v_progress := flow.lose_in_company(v_held, v_owner.process_id, v_now);
    end if;
    p_tell_queues := v_progress.queues;
    p_tell_runs := v_progress.ended_runs;
    p_tell_workers := v_progress.workers;

    v_listed := array(
        select l from unnest(v_listed) l
        where l.ord not in (select k.ord from unnest(v_locked) k)
          and flow.why_lost(p_worker, l.run_id, l.step_index, l.task_index, l.batch) is null);
    if cardinality(v_listed) = 0 then
        delete from flow.hand h where h.worker_id = p_worker and h.batch = p_row;
        return;
    end if;
    update flow.hand h
    set (runs, steps, tasks, batches) = (
        select array_agg(l.run_id), array_agg(l.step_index), array_agg(l.task_index), array_agg(l.batch) from unnest(v_listed) l)
    where h.worker_id = p_worker and h.batch = p_row;
    p_is_done := false;
end $$;
