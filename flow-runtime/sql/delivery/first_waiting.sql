-- Return where the order of a worker's queue begins: the place of the first message, with p_marks of the first message behind the marks.
-- Null when there is no such message, and always for a queue of pgmq delivery, which has no such order.
create or replace function flow.first_waiting(p_self flow.worker_state, p_marks flow.mark[]) returns flow.mark
language plpgsql stable as $$
declare
    v_mark flow.mark;
    v_first flow.mark;
begin
    if p_self.message_ids is not null then
        return null;
    end if;
    if p_marks is null then
        select m.priority, m.age, m.run_id, m.step_index, m.task_index into v_first
        from flow.message m where m.queue_id = p_self.queue_id
        order by m.priority, m.age, m.run_id, m.step_index, m.task_index limit 1;
        return v_first;
    end if;
    foreach v_mark in array p_marks loop
        select m.priority, m.age, m.run_id, m.step_index, m.task_index into v_first
        from flow.message m
        where m.queue_id = p_self.queue_id and m.priority = v_mark.priority
          and (m.age, m.run_id, m.step_index, m.task_index) > (v_mark.age, v_mark.run_id, v_mark.step_index, v_mark.task_index)
        order by m.age, m.run_id, m.step_index, m.task_index limit 1;
        exit when found;
    end loop;
    return v_first;
end $$;
