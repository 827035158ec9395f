-- Subtract ended steps from the remaining steps of their runs (p_ended holds the run of each ended step, one entry a step) and complete the
-- runs that have none left. The output is an object with the outputs of the completed leaf steps by slug.
-- A run whose output would exceed the setting max_aggregate_bytes fails instead, together with the step that ended last; tasks keep their
-- status.
-- Returns the runs that ended. The caller holds the runs' locks.
create or replace function flow.complete_runs(p_ended uuid[], p_now timestamptz, out p_ended_runs uuid[])
language plpgsql as $$
declare
    v_large uuid[];
    v_limit bigint;
begin
    select (s.value)::bigint into v_limit from flow.setting s where s.name = 'max_aggregate_bytes';
    with ended as (
        select e.run_id, count(*)::integer as steps from unnest(p_ended) e(run_id) group by e.run_id
    ), counted as (
        update flow.run r
        set remaining_steps = r.remaining_steps - e.steps,
            status = case when r.remaining_steps <> e.steps then r.status
                          when z.is_large then 'failed'
                          else 'completed' end,
            ended_at = case when r.remaining_steps = e.steps then p_now end,
            error = case when z.is_large then format(
                'the outputs of the leaf steps have %s bytes together, more than the limit of %s; return less from them, or raise '
                'the setting max_aggregate_bytes', z.bytes, v_limit) end,
            output = case when r.remaining_steps = e.steps and not z.is_large then (
                select coalesce(jsonb_object_agg(l.slug, l.output), '{}')
                from flow.step s
                cross join lateral (
                    select s.slug, ss.output from flow.step_state ss
                    where ss.run_id = r.run_id and ss.step_index = s.step_index and ss.status = 'completed' offset 0
                ) l
                where s.flow_id = r.flow_id and cardinality(s.dependents) = 0) end
        from ended e
        cross join lateral (
            select t.ctid as row_id, t.remaining_steps, t.flow_id from flow.run t
            where t.run_id = e.run_id and t.status = 'started' offset 0
        ) t
        cross join lateral (
            -- The exact size is computed only where it can exceed the limit: a stored byte stands for at most some 255 bytes uncompressed,
            -- and a byte of a number for at most 320 digits; 255 * 320 = 81600.
            select case when t.remaining_steps = e.steps and l.stored * 81600 > v_limit then (
                select sum(octet_length(o.output::text) + octet_length(s.slug) + 6)
                from flow.step s
                cross join lateral (
                    select ss.output from flow.step_state ss
                    where ss.run_id = e.run_id and ss.step_index = s.step_index and ss.status = 'completed' offset 0
                ) o
                where s.flow_id = t.flow_id and cardinality(s.dependents) = 0) end as bytes
            from (
                select sum(pg_column_size(o.output) + octet_length(s.slug)) as stored
                from flow.step s
                cross join lateral (
                    select ss.output from flow.step_state ss
                    where t.remaining_steps = e.steps and ss.run_id = e.run_id and ss.step_index = s.step_index
                      and ss.status = 'completed' offset 0
                ) o
                where s.flow_id = t.flow_id and cardinality(s.dependents) = 0
            ) l
            offset 0
        ) b
        cross join lateral (select b.bytes, coalesce(b.bytes > v_limit, false) as is_large offset 0) z
        where r.ctid = t.row_id
        returning r.run_id, r.status, z.is_large
    )
    select coalesce(array_agg(c.run_id) filter (where c.status <> 'started'), '{}'),
           array_agg(c.run_id) filter (where c.is_large)
    into p_ended_runs, v_large from counted c;
    if v_large is not null then
        -- The last step ended in this transaction, so no other transaction has seen it as completed or skipped; making it failed
        -- contradicts nobody.
        with failed as (
            update flow.step_state ss
            set status = 'failed', skip_reason = null, output = null, error = l.error
            from unnest(v_large) u(run_id)
            cross join lateral (
                select t.ctid as row_id, r.error from flow.run r
                join flow.step_state t on t.run_id = r.run_id
                where r.run_id = u.run_id and t.ended_at = p_now and t.status in ('completed', 'skipped')
                order by t.step_index desc limit 1
            ) l
            where ss.ctid = l.row_id
            returning ss.run_id, ss.step_index
        )
        update flow.run r set error_step = f.step_index from failed f where r.run_id = f.run_id;
    end if;
end $$;
