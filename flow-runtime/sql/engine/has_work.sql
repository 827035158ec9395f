-- Tell whether a piece of work exists, even where somebody has locked its row.
create or replace function flow.has_work(p_run uuid, p_step integer, p_task integer) returns boolean language plpgsql as $$
begin
    return exists (select from flow.step_state ss
                   where p_task < 0 and ss.run_id = p_run and ss.step_index = p_step and ss.queued_at is not null)
        or exists (select from flow.task t where t.run_id = p_run and t.step_index = p_step and t.task_index = p_task);
end $$;
