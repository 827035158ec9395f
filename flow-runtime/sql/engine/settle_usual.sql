-- Do what flow.settle_work does, in fewer statements, for the usual case: a flow whose steps are all single and have no conditions, results
-- that all say `complete` with outputs that can be stored, and runs that nobody else has locked.
-- Returns the places of the results that completed their work, and the progress that was made. Returns nulls and changes nothing when the
-- results are not the usual case. A result that is missing among the places is to be judged by flow.settle_work.
create or replace function flow.settle_usual(
    p_self flow.worker_state, p_runs uuid[], p_steps integer[], p_tasks integer[], p_batches bigint[], p_outcomes text[],
    p_outputs text[], p_offer flow.offer,
    out p_completed bigint[], out p_progress flow.progress
) language plpgsql as $$
declare
    v_now timestamptz;
    v_locked record;
    v_values jsonb[];
    v_done record;
    v_begun record;
begin
    if not ('complete' = all (p_outcomes) and -1 = all (p_tasks)) then
        return;
    end if;
    -- One test of all outputs together is cheap and nearly always finds nothing; only when it does, each output is tested.
    if flow.is_doubtful(array_to_string(p_outputs, ' '), p_self.max_value_bytes)
       and exists (select from unnest(p_outputs) o(output) where flow.is_doubtful(o.output, p_self.max_value_bytes)) then
        return;
    end if;
    begin
        v_values := p_outputs::jsonb[];
    exception when data_exception or program_limit_exceeded then
        return;
    end;
    if cardinality(p_runs) = 1 then
        v_done := flow.settle_one(p_self, p_runs[1], p_steps[1], p_batches[1], v_values[1], p_offer);
        p_completed := v_done.p_completed;
        p_progress := v_done.p_progress;
        return;
    end if;
    select count(*) as runs, count(l.run_id) as locked into v_locked
    from (select distinct u.run_id from unnest(p_runs) u(run_id) order by u.run_id) u
    left join lateral (
        select r.run_id from flow.run r where r.run_id = u.run_id for no key update skip locked
    ) l on true;
    if v_locked.locked < v_locked.runs or (v_locked.runs < cardinality(p_runs) and (
        select count(distinct (u.*)) from unnest(p_runs, p_steps) u) < cardinality(p_runs)) then
        return;
    end if;
    v_now := clock_timestamp();

    with done as (
        update flow.step_state ss
        set status = 'completed', remaining_tasks = 0, ended_at = v_now, output = u.output
        from (
            select u.ord, u.batch, u.output, l.row_id
            from unnest(p_runs, p_steps, p_batches, v_values) with ordinality u(run_id, step_index, batch, output, ord)
            cross join lateral (
                select l.ctid as row_id from flow.step_state l
                where l.run_id = u.run_id and l.step_index = u.step_index offset 0
            ) l
            offset 0
        ) u
        where ss.ctid = u.row_id and ss.status = 'started' and ss.worker_id = p_self.worker_id and ss.batch = u.batch
          and ss.queue_id = p_self.queue_id and not ss.is_exhausted
        returning u.ord, ss.run_id, ss.step_index
    ), counted as (
        update flow.run r
        set remaining_steps = r.remaining_steps - e.steps
        from (select d.run_id, count(*)::integer as steps from done d group by d.run_id) e
        cross join lateral (
            select t.ctid as row_id from flow.run t where t.run_id = e.run_id and t.remaining_steps > e.steps offset 0
        ) t
        where r.ctid = t.row_id
        returning r.run_id
    ), waiting as (
        select d.run_id, w.step_index, count(*)::integer as ended
        from done d
        cross join lateral (
            select s.dependents from flow.step s
            where s.flow_id = p_self.flow_id and s.step_index = d.step_index offset 0
        ) s
        cross join lateral unnest(s.dependents) w(step_index)
        group by d.run_id, w.step_index
    )
    select (select coalesce(array_agg(d.ord), '{}') from done d) as places,
           (select array_agg(d.run_id) from done d where d.run_id not in (select c.run_id from counted c)) as last,
           w.steps, w.ended
    into v_done
    from (select array_agg(row(w.run_id, w.step_index, p_self.flow_id)::flow.step_ref) as steps, array_agg(w.ended) as ended
          from waiting w) w;

    p_completed := v_done.places;
    p_progress := row('{}', '{}', '{}', '{}', '{}');
    if v_done.steps is not null then
        v_begun := flow.begin_steps(v_done.steps, v_done.ended, true, p_offer, v_now);
        p_progress.handed := v_begun.p_handed;
        if cardinality(v_begun.p_started) > 0 then
            p_progress.queues := flow.enqueue_work(v_begun.p_started, v_now);
        end if;
    end if;
    if v_done.last is not null then
        p_progress.ended_runs := flow.complete_runs(v_done.last, v_now);
    end if;
end $$;
