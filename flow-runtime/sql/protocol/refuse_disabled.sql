-- Raise WF010 when worker name p_name is disabled. A worker calls this before it deploys, so that a program that may not work cannot change
-- a flow either; flow.register_worker checks again under the slug's lock.
create or replace function flow.refuse_disabled(p_name text) returns void language plpgsql as $$
declare
    v_disabled record;
begin
    select n.disabled_at, n.disabled_by, n.disabled_why into v_disabled
    from flow.worker_name n where n.name = p_name and n.disabled_at is not null;
    if found then
        raise exception 'worker "%" is disabled since % by %: %; call flow.enable_worker(''%'') to let it start',
            p_name, v_disabled.disabled_at, v_disabled.disabled_by, v_disabled.disabled_why, p_name
            using errcode = 'WF010';
    end if;
end $$;
