-- Hide each message of queue p_queue until its own time in p_until; a time that has come makes it visible.
-- Returns how many were found.
create or replace function flow.queue_hide(p_queue text, p_ids bigint[], p_until timestamptz[])
returns integer language plpgsql as $$
declare
    v_found integer;
begin
    execute format($sql$
        update pgmq.%I q set vt = m.until from unnest($1, $2) m(msg_id, until) where q.msg_id = m.msg_id
    $sql$, 'q_' || p_queue) using p_ids, p_until;
    get diagnostics v_found = row_count;
    return v_found;
end $$;
