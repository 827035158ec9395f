-- Disable a worker name until flow.enable_worker: running workers of that name drain, and a new worker of that name is refused.
create or replace function flow.disable_worker(name text, why text) returns void language sql as $$
    select flow.disable_name(disable_worker.name, disable_worker.why)
$$;
