-- Take work away from a process that was ended while it held the work.
-- Work that was alone in its process uses its attempt and is lost as flow.lose_work says; if it was a suspect with attempts left, it waits
-- again as a suspect.
-- Where the process held several pieces, nobody knows which of them ended it. Each becomes a suspect, uses no attempt, and waits with a
-- limit: half of the number of lost others, at least 1, for work that was no suspect; half of the number of lost suspects, at least 1, for
-- a suspect; and 0, to be alone from now on, for a suspect that was the only one or had limit 0 before.
-- Work with max_attempts 1 is never given out again, since that option promises that no handler runs twice; exhausted work is lost as well.
-- Each loss is recorded with its process, company and limit. Returns the progress that was made. The caller holds the locks of runs and
-- work.
create or replace function flow.lose_in_company(p_work flow.work[], p_process bigint, p_now timestamptz)
returns flow.progress language plpgsql as $$
declare
    v_lost record; -- how many suspects and others the process held
    v_uses_attempt boolean;
    v_ending flow.work[]; -- work that uses its attempt and goes to flow.lose_work
    v_suspect flow.work[]; -- work that waits as a suspect, with the attempt that it keeps
    v_limits integer[];
    v_progress flow.progress := row('{}', '{}', '{}', '{}', '{}');
begin
    -- Without a count, the process is taken to have held one piece: the attempt is used, so that work cannot be lost for ever without using
    -- attempts.
    select coalesce(p.lost_suspects, 0) as suspects, coalesce(p.lost_others, 1) as others into v_lost
    from (values (p_process)) v(process_id) left join flow.process p on p.process_id = v.process_id;
    v_uses_attempt := v_lost.suspects + v_lost.others <= 1;

    with judged as (
        select w.ord, w.run_id, w.step_index, w.task_index, w.flow_id, w.row_id, w.status, w.queue_id, w.attempt, w.worker_id,
               w.batch, w.claimed_at, w.timeout_ms, w.is_exhausted,
               w.is_exhausted or m.max_attempts = 1
               or v_uses_attempt and (s.suspect_limit is null or w.attempt >= m.max_attempts) as is_ending,
               case when s.suspect_limit is null then greatest(v_lost.others / 2, 1)
                    when s.suspect_limit = 0 or v_lost.suspects <= 1 then 0
                    else greatest(v_lost.suspects / 2, 1) end as suspect_limit
        from unnest(p_work) with ordinality w(
            run_id, step_index, task_index, flow_id, row_id, status, queue_id, attempt, worker_id, batch, claimed_at,
            timeout_ms, is_exhausted, ord)
        cross join lateral (
            select s.max_attempts from flow.step s where s.flow_id = w.flow_id and s.step_index = w.step_index offset 0
        ) m
        left join lateral (
            select s.suspect_limit from flow.suspect s
            where s.run_id = w.run_id and s.step_index = w.step_index and s.task_index = w.task_index offset 0
        ) s on true
    ), recorded as (
        insert into flow.attempt_error (
            run_id, step_index, task_index, worker_id, batch, attempt, cause, error, at, used_attempt, process_id, company,
            suspect_limit)
        select j.run_id, j.step_index, j.task_index, j.worker_id, j.batch, j.attempt, 'lease_expired',
               'the lease ended before the attempt was settled', p_now, v_uses_attempt or j.is_ending, p_process,
               greatest(v_lost.suspects + v_lost.others - 1, 0), case when not j.is_ending then j.suspect_limit end
        from judged j where not j.is_exhausted
        on conflict (run_id, step_index, task_index, worker_id, batch) do nothing
    )
    select array_agg(row(j.run_id, j.step_index, j.task_index, j.flow_id, j.row_id, j.status, j.queue_id, j.attempt, j.worker_id,
                         j.batch, j.claimed_at, j.timeout_ms, j.is_exhausted)::flow.work order by j.ord) filter (where j.is_ending),
           array_agg(row(j.run_id, j.step_index, j.task_index, j.flow_id, j.row_id, j.status, j.queue_id,
                         j.attempt - case when v_uses_attempt then 0 else 1 end, j.worker_id, j.batch, j.claimed_at, j.timeout_ms,
                         false)::flow.work order by j.ord) filter (where not j.is_ending),
           array_agg(j.suspect_limit order by j.ord) filter (where not j.is_ending)
    into v_ending, v_suspect, v_limits from judged j;

    if v_suspect is not null then
        v_progress.queues := flow.wait_as_suspect(v_suspect, v_limits, p_now);
    end if;
    if v_ending is not null then
        v_progress := flow.join_progress(v_progress, flow.lose_work(v_ending, p_now));
    end if;
    return v_progress;
end $$;
