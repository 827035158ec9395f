-- Read from a message's body whose work the message announces; nulls when the body cannot be read. The body of a single step's message
-- names no task, and p_task is -1.
create or replace function flow.read_message(
    p_body jsonb, out p_run uuid, out p_step integer, out p_task integer
) language plpgsql immutable as $$
begin
    p_run := (p_body ->> 'run')::uuid;
    p_step := (p_body ->> 'step')::integer;
    p_task := coalesce((p_body ->> 'task')::integer, -1);
exception when data_exception then
    p_run := null;
    p_step := null;
    p_task := null;
end $$;
