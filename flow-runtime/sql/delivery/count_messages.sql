-- Count the messages of a queue: all messages, the due ones, and the age of the oldest (in a queue of pgmq delivery, when the oldest was
-- sent). Reads the whole queue.
create or replace function flow.count_messages(
    p_queue flow.queue, out messages bigint, out visible bigint, out oldest_at timestamptz
) language plpgsql as $$
begin
    if p_queue.delivery = 'pgmq' then
        select c.messages, c.visible, c.oldest_at into messages, visible, oldest_at from flow.pgmq_count(p_queue.name) c;
        return;
    end if;
    select count(*), count(*) filter (where w.due_at <= clock_timestamp()), min(w.age) into messages, visible, oldest_at
    from (
        select m.age, '-infinity'::timestamptz as due_at from flow.message m where m.queue_id = p_queue.queue_id
        union all
        select d.age, d.due_at from flow.delayed d where d.queue_id = p_queue.queue_id
    ) w;
end $$;
