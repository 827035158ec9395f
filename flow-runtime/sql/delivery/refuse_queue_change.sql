-- Raise WF020 when an update would move existing work to another queue: work keeps its queue for life.
-- The triggers name only the column queue_id, so the frequent updates never fire them. They are `after` triggers, because a `before`
-- trigger would make every update of the table lock its row first.
create or replace function flow.refuse_queue_change() returns trigger language plpgsql as $$
begin
    raise exception 'work keeps its queue for life; cancel the run and start it again' using errcode = 'WF020';
end $$;

create or replace trigger step_keeps_its_queue after update of queue_id on flow.step_state for each row
    when (old.queue_id is not null and new.queue_id is distinct from old.queue_id)
    execute function flow.refuse_queue_change();

create or replace trigger task_keeps_its_queue after update of queue_id on flow.task for each row
    when (new.queue_id is distinct from old.queue_id)
    execute function flow.refuse_queue_change();
