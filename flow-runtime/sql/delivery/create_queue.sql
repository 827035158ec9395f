-- Create a private queue of a flow: the registry row and PGMQ's tables. Raises WF007 when the name is registered, or when
-- PGMQ has a queue of that name, in whatever spelling, that no flow owns; it is never adopted.
create or replace function flow.create_queue(p_name text, p_flow_id integer) returns void language plpgsql as $$
declare
    v_owner text;
    v_found text;
begin
    select coalesce('flow "' || f.slug || '"', 'no flow: it is shared') into v_owner
    from flow.queue q left join flow.flow f on f.flow_id = q.flow_id where q.name = p_name;
    if found then
        raise exception 'queue "%" belongs to %; give this flow another slug', p_name, v_owner using errcode = 'WF007';
    end if;
    select m.queue_name into v_found from pgmq.meta m where lower(m.queue_name collate "C") = p_name;
    if found or to_regclass(format('pgmq.%I', 'q_' || p_name)) is not null then
        raise exception 'PGMQ already has a queue "%" that no flow owns; drop it with select pgmq.drop_queue(''%'') or give '
            'this flow another slug', coalesce(v_found, p_name), coalesce(v_found, p_name) using errcode = 'WF007';
    end if;
    perform pgmq.validate_queue_name(p_name);
    perform pgmq.create(p_name);
    -- Every message is updated once and deleted once: vacuum early, and do not wait for a share of a large table.
    execute format('alter table pgmq.%I set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
                    autovacuum_analyze_threshold = 5000)', 'q_' || p_name);
    insert into flow.queue (name, ownership, flow_id, message_ids)
    values (p_name, 'private', p_flow_id, pg_get_serial_sequence(format('pgmq.%I', 'q_' || p_name), 'msg_id')::regclass);
end $$;
