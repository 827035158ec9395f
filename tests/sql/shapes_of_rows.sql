-- The shape of every flow twice: as flow.stored_shape reads it, and as a test reads the rows.
with step as (
    select s.*, jsonb_build_object(
        'slug', s.slug, 'kind', s.kind,
        'over', case when s.over_step = -1 then 'input' else o.slug end,
        'needs', (select coalesce(jsonb_agg(d.slug order by n.ord), '[]') from unnest(s.needs) with ordinality n(at, ord)
                  join flow.step d on d.flow_id = s.flow_id and d.step_index = n.at),
        'after', (select coalesce(jsonb_agg(d.slug order by n.ord), '[]') from unnest(s.after) with ordinality n(at, ord)
                  join flow.step d on d.flow_id = s.flow_id and d.step_index = n.at),
        'when_unmet', s.when_unmet, 'when_exhausted', s.when_exhausted, 'queue', null)
        || case when s.run_if is null then '{}' else jsonb_build_object('run_if', s.run_if) end
        || case when s.run_unless is null then '{}' else jsonb_build_object('run_unless', s.run_unless) end as shape
    from flow.step s left join flow.step o on o.flow_id = s.flow_id and o.step_index = s.over_step
)
select f.slug, flow.stored_shape(f.flow_id), jsonb_build_object('slug', f.slug, 'queue_mode', f.queue_mode, 'steps',
                                           jsonb_agg(s.shape order by s.step_index)) as of_rows
from flow.flow f join step s on s.flow_id = f.flow_id group by f.flow_id
