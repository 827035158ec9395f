-- Tell whether build p_build of a program is older than p_other: by the numbers of the versions, then by the build times. A part that one
-- of the builds does not have is not compared.
create or replace function flow.is_older_build(p_build jsonb, p_other jsonb) returns boolean language sql stable as $$
    select case
        when v.own < v.other then true
        when v.own > v.other then false
        else coalesce((p_build ->> 'built_at')::timestamptz < (p_other ->> 'built_at')::timestamptz, false) end
    from (select string_to_array(substring(p_build ->> 'version' from '^[0-9]+(?:[.][0-9]+)*'), '.')::bigint[] as own,
                 string_to_array(substring(p_other ->> 'version' from '^[0-9]+(?:[.][0-9]+)*'), '.')::bigint[] as other) v
$$;
