-- Send one notification on p_channel with the ids as a comma-separated list; a list over 7,900 bytes becomes '*'. p_origin, the name of
-- the program that tells, follows after '@', so that this program need not hear itself.
-- Sends nothing for an empty list.
create or replace function flow.notify_ids(p_channel text, p_ids text[], p_origin text default null) returns void language plpgsql as $$
declare
    v_list text := array_to_string(p_ids, ',');
begin
    if v_list <> '' then
        perform pg_notify(p_channel, case when octet_length(v_list) > 7900 then '*' else v_list end || coalesce('@' || p_origin, ''));
    end if;
end $$;
