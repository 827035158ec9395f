-- Return the given messages that do not exist in queue p_queue, neither due nor delayed.
create or replace function flow.missing_messages(p_queue flow.queue, p_deliveries flow.delivery[]) returns flow.delivery[]
language plpgsql stable as $$
declare
    v_found bigint[];
begin
    if p_queue.delivery = 'pgmq' and to_regclass(format('pgmq.%I', 'q_' || p_queue.name)) is null then
        return p_deliveries;
    elsif p_queue.delivery = 'pgmq' then
        execute format('select coalesce(array_agg(q.msg_id), ''{}'') from pgmq.%I q where q.msg_id = any ($1)', 'q_' || p_queue.name)
        into v_found using array(select d.message_id from unnest(p_deliveries) d);
        return array(select d from unnest(p_deliveries) d where d.message_id <> all (v_found));
    end if;
    return array(
        select d from unnest(p_deliveries) d
        where not exists (
                select from flow.message m
                where m.queue_id = d.queue_id and m.priority = d.priority and m.age = d.age and m.run_id = d.run_id
                  and m.step_index = d.step_index and m.task_index = d.task_index offset 0)
          and not exists (
                select from flow.delayed l
                where l.run_id = d.run_id and l.step_index = d.step_index and l.task_index = d.task_index offset 0));
end $$;
