-- Take flow.deprecate back: workers of the flow may start again. Workers that have drained meanwhile stay stopped.
-- Raises WF001 when there is no such flow.
create or replace function flow.undeprecate(slug text) returns void language plpgsql as $$
begin
    update flow.flow f set deprecated_at = null where f.slug = undeprecate.slug;
    if not found then
        raise exception 'flow "%" is not deployed', slug using errcode = 'WF001';
    end if;
end $$;
