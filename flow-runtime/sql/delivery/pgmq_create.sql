-- Create PGMQ's tables for a queue. Returns the sequence that numbers the queue's messages.
-- Raises WF007 when PGMQ has a queue of that name already, in whatever spelling, and WF023 when PGMQ is not installed.
create or replace function flow.pgmq_create(p_queue text) returns regclass language plpgsql as $$
declare
    v_found text;
begin
    if to_regclass('pgmq.meta') is null then
        raise exception 'queue "%" needs PGMQ, because the setting `delivery` is pgmq and PGMQ is not installed here', p_queue
            using errcode = 'WF023', hint = 'Call Db::use_pgmq once, or set `delivery` to rows.';
    end if;
    select m.queue_name into v_found from pgmq.meta m where lower(m.queue_name collate "C") = p_queue;
    if found or to_regclass(format('pgmq.%I', 'q_' || p_queue)) is not null then
        raise exception 'PGMQ already has a queue "%" that no flow owns; drop it with select pgmq.drop_queue(''%'') or give '
            'this flow another slug', coalesce(v_found, p_queue), coalesce(v_found, p_queue) using errcode = 'WF007';
    end if;
    perform pgmq.validate_queue_name(p_queue);
    perform pgmq.create(p_queue);
    -- Every message is inserted once and deleted once, so the table is vacuumed early: at 1 % and a thousand dead rows.
    execute format('alter table pgmq.%I set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
                    autovacuum_analyze_threshold = 5000)', 'q_' || p_queue);
    return pg_get_serial_sequence(format('pgmq.%I', 'q_' || p_queue), 'msg_id')::regclass;
end $$;
