-- Count ended steps down in their runs (one entry of p_ended a step) and complete the runs that have none left, with
-- the object of their completed leaf steps as output. A run whose output would be too large fails instead, and no step is blamed.
-- Returns the runs that ended. The caller holds the runs' locks.
create or replace function flow.finish_runs(p_ended uuid[], p_now timestamptz, out p_ended_runs uuid[])
language plpgsql as $$
begin
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
                'the setting max_aggregate_bytes', z.bytes,
                (select s.value from flow.setting s where s.name = 'max_aggregate_bytes')) end,
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
            select case when t.remaining_steps = e.steps then (
                       select sum(octet_length(l.output::text) + octet_length(s.slug) + 6)
                       from flow.step s
                       cross join lateral (
                           select ss.output from flow.step_state ss
                           where ss.run_id = e.run_id and ss.step_index = s.step_index and ss.status = 'completed' offset 0
                       ) l
                       where s.flow_id = t.flow_id and cardinality(s.dependents) = 0) end as bytes
        ) b
        cross join lateral (
            select b.bytes, b.bytes is not null and b.bytes > (
                select (s.value)::bigint from flow.setting s where s.name = 'max_aggregate_bytes') as is_large
        ) z
        where r.ctid = t.row_id
        returning r.run_id, r.status
    )
    select coalesce(array_agg(c.run_id) filter (where c.status <> 'started'), '{}') into p_ended_runs from counted c;
end $$;
