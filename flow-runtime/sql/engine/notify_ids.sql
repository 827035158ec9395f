-- Send one notification on p_channel with the ids as a comma-separated list; a list over 7,900 bytes becomes '*', since PostgreSQL takes
-- less than 8,000. p_origin, the name of the sending program, follows after '@', so that the program can ignore its own notification.
-- Sends nothing for an empty list.
create or replace function flow.notify_ids(p_channel text, p_ids text[], p_origin text default null) returns void language plpgsql as $$
declare
    v_list text := array_to_string(p_ids, ',');
begin
    if v_list <> '' then
        perform pg_notify(p_channel, case when octet_length(v_list) > 7900 then '*' else v_list end || coalesce('@' || p_origin, ''));
    end if;
end $$;
