-- Send one notification on p_channel with the ids as a comma-separated list; a list over 7,900 bytes becomes '*'.
-- Sends nothing for an empty list.
create or replace function flow.notify_ids(p_channel text, p_ids text[]) returns void language plpgsql as $$
declare
    v_list text := array_to_string(p_ids, ',');
begin
    if v_list <> '' then
        perform pg_notify(p_channel, case when octet_length(v_list) > 7900 then '*' else v_list end);
    end if;
end $$;
