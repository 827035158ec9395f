-- Take the lock under which one flow is deployed, deleted and given workers, until the transaction ends.
create or replace function flow.lock_slug(p_slug text) returns void language sql as $$
    select pg_advisory_xact_lock(hashtextextended('flow.slug.' || lower(p_slug collate "C"), 0))
$$;
