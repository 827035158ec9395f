-- Write one setting: environment (production | development), delivery (rows | pgmq: where queues that are created from now on keep their
-- messages), retention (off, or how long ended runs are kept: a number with h, d or w, as in 30d), max_value_bytes (the most bytes of one
-- value, from 1,024 to 104,857,600) or max_aggregate_bytes (the most bytes of values put together, from 1,024 to 209,715,200).
-- Raises WF012 for an unknown name or a value that does not fit.
create or replace function flow.set_setting(name text, value text) returns void language plpgsql as $$
declare
    v_value text := btrim(value, ' "');
    v_most bigint := case name when 'max_value_bytes' then 104857600 when 'max_aggregate_bytes' then 209715200 end;
begin
    if name is null or name not in ('environment', 'delivery', 'retention', 'max_value_bytes', 'max_aggregate_bytes') then
        raise exception 'there is no setting "%"; the settings are environment, delivery, retention, max_value_bytes and '
            'max_aggregate_bytes', coalesce(name, 'null') using errcode = 'WF012';
    elsif name = 'environment' then
        if v_value is null or v_value not in ('production', 'development') then
            raise exception 'setting environment takes production or development' using errcode = 'WF012';
        end if;
        update flow.setting s set value = to_jsonb(v_value) where s.name = set_setting.name;
    elsif name = 'delivery' then
        if v_value is null or v_value not in ('rows', 'pgmq') then
            raise exception 'setting delivery takes rows or pgmq' using errcode = 'WF012';
        end if;
        update flow.setting s set value = to_jsonb(v_value) where s.name = set_setting.name;
    elsif name = 'retention' then
        if v_value is null or v_value !~ '^(off|[1-9][0-9]{0,4}[hdw])$' then
            raise exception 'setting retention takes off, or a number of hours, days or weeks, as in 12h, 30d or 8w, not "%"',
                coalesce(value, 'null') using errcode = 'WF012';
        end if;
        update flow.setting s set value = to_jsonb(v_value) where s.name = set_setting.name;
    else
        if v_value is null or v_value !~ '^[0-9]{1,12}$' or v_value::bigint not between 1024 and v_most then
            raise exception 'setting % takes a whole number of bytes from 1024 to %', name, v_most using errcode = 'WF012';
        end if;
        update flow.setting s set value = to_jsonb(v_value::bigint) where s.name = set_setting.name;
    end if;
end $$;
