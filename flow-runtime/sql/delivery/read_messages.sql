-- Lock up to p_limit messages in the queue of a worker, in the queue's order, skipping locked messages and those in p_passed.
-- With p_marks only messages behind the mark of their priority are read, which spares the read the dead rows before the marks; without, the
-- whole queue.
-- Returns the messages, an empty array when there are none. flow.take_messages removes them.
create or replace function flow.read_messages(
    p_self flow.worker_state, p_limit integer, p_marks flow.mark[], p_passed flow.delivery[], p_now timestamptz
) returns flow.delivery[] language plpgsql as $$
declare
    v_mark flow.mark;
    v_read flow.delivery[] := '{}';
begin
    if p_self.message_ids is not null then
        return flow.pgmq_read(p_self, p_limit, p_passed, p_now);
    end if;
    if p_marks is null then
        return array(
            select row(m.queue_id, m.priority, m.age, m.run_id, m.step_index, m.task_index, null, m.ctid)::flow.delivery
            from flow.message m
            where m.queue_id = p_self.queue_id
              and (p_passed is null or (m.run_id, m.step_index, m.task_index) not in (
                  select p.run_id, p.step_index, p.task_index from unnest(p_passed) p))
            order by m.priority, m.age, m.run_id, m.step_index, m.task_index limit p_limit for update skip locked);
    end if;
    foreach v_mark in array p_marks loop
        exit when cardinality(v_read) >= p_limit;
        v_read := v_read || array(
            select row(m.queue_id, m.priority, m.age, m.run_id, m.step_index, m.task_index, null, m.ctid)::flow.delivery
            from flow.message m
            where m.queue_id = p_self.queue_id and m.priority = v_mark.priority
              and (m.age, m.run_id, m.step_index, m.task_index)
                  > (v_mark.age, v_mark.run_id, v_mark.step_index, v_mark.task_index)
              and (p_passed is null or (m.run_id, m.step_index, m.task_index) not in (
                  select p.run_id, p.step_index, p.task_index from unnest(p_passed) p))
            order by m.age, m.run_id, m.step_index, m.task_index
            limit p_limit - cardinality(v_read) for update skip locked);
    end loop;
    return v_read;
end $$;
