-- Count the messages of a queue of pgmq delivery: all messages, the visible ones, and when the oldest was sent. Reads the whole queue.
-- Nulls when PGMQ's table is gone.
create or replace function flow.pgmq_count(
    p_queue text, out messages bigint, out visible bigint, out oldest_at timestamptz
) language plpgsql as $$
begin
    if to_regclass(format('pgmq.%I', 'q_' || p_queue)) is null then
        return;
    end if;
    execute format('select count(*), count(*) filter (where q.vt <= clock_timestamp()), min(q.enqueued_at)
                    from pgmq.%I q', 'q_' || p_queue)
    into messages, visible, oldest_at;
end $$;
