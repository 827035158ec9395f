-- Refuse to move an existing task to another queue or message: both are its snapshot for life.
-- The trigger names only those two columns, so the hot updates never fire it.
create or replace function flow.refuse_queue_change() returns trigger language plpgsql as $$
begin
    if (new.queue_id, new.message_id) is distinct from (old.queue_id, old.message_id) then
        raise exception 'a task keeps its queue and message for life; cancel the run and start it again'
            using errcode = 'WF020';
    end if;
    return new;
end $$;

create or replace trigger task_keeps_its_queue before update of queue_id, message_id on flow.task
    for each row execute function flow.refuse_queue_change();
