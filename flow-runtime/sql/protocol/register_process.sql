-- Register a program that will have workers, under the id p_process that it has chosen, with a lease of p_lease_ms from now. A second call
-- with the same id changes nothing.
create or replace function flow.register_process(p_process bigint, p_name text, p_lease_ms bigint) returns void
language sql as $$
    insert into flow.process (process_id, name, lease_ms, lease_until)
    values (p_process, p_name, p_lease_ms, clock_timestamp() + p_lease_ms * interval '1 ms')
    on conflict (process_id) do nothing
$$;
