-- Read the task that a message names; nulls when the message does not name one.
create or replace function flow.read_message(
    p_body jsonb, out p_run uuid, out p_step integer, out p_task integer
) language plpgsql immutable as $$
begin
    p_run := (p_body ->> 'run')::uuid;
    p_step := (p_body ->> 'step')::integer;
    p_task := (p_body ->> 'task')::integer;
exception when data_exception then
    p_run := null;
    p_step := null;
    p_task := null;
end $$;
