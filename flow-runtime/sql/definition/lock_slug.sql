-- Take the lock of a flow's slug until the transaction ends. Deployments, deletions and registrations of workers of the flow take it, one
-- at a time.
create or replace function flow.lock_slug(p_slug text) returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended('flow.slug.' || lower(p_slug collate "C"), 0))
$$;
