-- Disable a worker name for good: its workers drain, and one that starts under it is refused until flow.enable_worker.
create or replace function flow.disable_worker(name text, why text) returns void language sql as $$
    select flow.disable_name(disable_worker.name, disable_worker.why)
$$;
