-- Disable a worker name until flow.enable_worker enables it: running workers of that name drain, and a new worker of that name is refused.
-- Locks the name, then the workers by id.
create or replace function flow.disable_name(p_name text, p_why text) returns void language plpgsql as $$
declare
    v_workers text[];
begin
    insert into flow.worker_name as n (name, disabled_at, disabled_by, disabled_why)
    values (p_name, clock_timestamp(), current_user, p_why)
    on conflict (name) do update
    set disabled_at = excluded.disabled_at, disabled_by = excluded.disabled_by, disabled_why = excluded.disabled_why;

    with drained as (
        update flow.worker w set draining_at = clock_timestamp()
        from (select l.worker_id from flow.worker l
              where l.name = p_name and l.stopped_at is null and l.draining_at is null
              order by l.worker_id for no key update) l
        where w.worker_id = l.worker_id
        returning w.worker_id
    )
    select array_agg(d.worker_id::text) into v_workers from drained d;
    perform flow.notify_ids('flow_worker', v_workers);
end $$;
