-- Take back the request to drain that flow.deploy made of the workers of a flow: workers that have not stopped claim again, unless the flow
-- is deprecated or their name is disabled.
create or replace function flow.withdraw_drain(p_slug text) returns void language sql as $$
    update flow.worker w set draining_at = null
    from flow.flow f
    where f.slug = p_slug and f.deprecated_at is null and w.flow_id = f.flow_id and w.stopped_at is null
      and not exists (select from flow.worker_name n where n.name = w.name and n.disabled_at is not null)
$$;
