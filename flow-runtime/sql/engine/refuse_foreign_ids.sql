-- Raise WF005 when a run of another flow has one of the ids that a start of this flow was given.
create or replace function flow.refuse_foreign_ids(p_flow_id integer, p_ids uuid[]) returns void language plpgsql as $$
declare
    v_bad record;
begin
    select n.run_id, f.slug into v_bad
    from unnest(p_ids) n(run_id)
    cross join lateral (select r.flow_id from flow.run r where r.run_id = n.run_id offset 0) r
    join flow.flow f on f.flow_id = r.flow_id
    where r.flow_id <> p_flow_id limit 1;
    if found then
        raise exception 'run id % belongs to flow "%", not to "%"; use another id', v_bad.run_id, v_bad.slug,
            (select f.slug from flow.flow f where f.flow_id = p_flow_id) using errcode = 'WF005';
    end if;
end $$;
