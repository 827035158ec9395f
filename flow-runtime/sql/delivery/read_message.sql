-- Read whose work a message announces; nulls when it does not say so. A single step's names no task.
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
