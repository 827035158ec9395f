-- Move work of a queue that has become due from flow.delayed to flow.message, at most a thousand pieces a call; skips rows that somebody
-- else is moving.
-- Returns when the next delayed work is due, null when none is. A queue of pgmq delivery has no rows there.
create or replace function flow.move_due(p_queue_id integer, p_now timestamptz) returns timestamptz language plpgsql as $$
declare
    v_next timestamptz;
begin
    select d.due_at into v_next from flow.delayed d where d.queue_id = p_queue_id order by d.due_at limit 1;
    if v_next is null or v_next > p_now then
        return v_next;
    end if;
    with due as (
        delete from flow.delayed d
        using (select l.ctid as row_id from flow.delayed l
               where l.queue_id = p_queue_id and l.due_at <= p_now
               order by l.due_at limit 1000 for update skip locked) l
        where d.ctid = l.row_id
        returning d.*
    )
    insert into flow.message (queue_id, priority, age, run_id, step_index, task_index)
    select d.queue_id, d.priority, d.age, d.run_id, d.step_index, d.task_index from due d
    on conflict do nothing;
    select d.due_at into v_next from flow.delayed d where d.queue_id = p_queue_id order by d.due_at limit 1;
    return v_next;
end $$;
