-- Write one setting that is a number; see flow.set_setting(text, text).
create or replace function flow.set_setting(name text, value bigint) returns void language sql as $$
    select flow.set_setting(name, value::text)
$$;
