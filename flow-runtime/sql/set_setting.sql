-- Write one setting: environment ("production" | "development") or max_value_bytes (a whole number from 1,024 on).
-- Raises WF012 for an unknown name or a value that does not fit.
create or replace function flow.set_setting(name text, value jsonb) returns void language plpgsql as $$
begin
    if name not in ('environment', 'max_value_bytes') then
        raise exception 'there is no setting "%"; the settings are environment and max_value_bytes', name
            using errcode = 'WF012';
    end if;
    if name = 'environment' and value not in ('"production"', '"development"') then
        raise exception 'setting environment takes "production" or "development"' using errcode = 'WF012';
    end if;
    if name = 'max_value_bytes' and (jsonb_typeof(value) <> 'number' or value::numeric < 1024
                                     or value::numeric <> trunc(value::numeric)) then
        raise exception 'setting max_value_bytes takes a whole number of bytes from 1024 on' using errcode = 'WF012';
    end if;
    update flow.setting s set value = set_setting.value where s.name = set_setting.name;
end $$;
