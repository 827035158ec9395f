-- Let workers of a disabled name start again. Changes nothing when the name is not disabled.
create or replace function flow.enable_worker(name text) returns void language sql as $$
    update flow.worker_name n set disabled_at = null, disabled_by = null, disabled_why = null
    where n.name = enable_worker.name
$$;
