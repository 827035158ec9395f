-- Whether one build of a program is older than another: by the numbers of its version, then by the time it was built. What is not
-- known of either is not compared.
create or replace function flow.is_older_build(p_build jsonb, p_other jsonb) returns boolean language sql stable as $$
    select case
        when v.own < v.other then true
        when v.own > v.other then false
        else coalesce((p_build ->> 'built_at')::timestamptz < (p_other ->> 'built_at')::timestamptz, false) end
    from (select string_to_array(substring(p_build ->> 'version' from '^[0-9]+(?:[.][0-9]+)*'), '.')::bigint[] as own,
                 string_to_array(substring(p_other ->> 'version' from '^[0-9]+(?:[.][0-9]+)*'), '.')::bigint[] as other) v
$$;
