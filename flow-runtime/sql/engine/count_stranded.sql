-- Count the work in a queue that nobody would ever take up, as flow.stranded_work finds it. To bound the cost, only the newest 10,000 runs
-- of each flow with steps on the queue and 10,000 pieces of their work are read; flow.repair_queue reads all.
create or replace function flow.count_stranded(p_queue flow.queue) returns bigint language plpgsql stable as $$
declare
    v_found record;
begin
    select w.* into v_found
    from flow.stranded_work(p_queue, array(
        select r.run_id from (select distinct s.flow_id from flow.step s where s.queue_id = p_queue.queue_id) f
        cross join lateral (
            select r.run_id, r.status from flow.run r where r.flow_id = f.flow_id
            order by r.started_at desc, r.run_id desc limit 10000
        ) r
        where r.status = 'started'), 10000) w;
    return cardinality(v_found.p_waiting) + cardinality(v_found.p_held);
end $$;
