-- Count the work that worker p_worker holds: work that its hand lists and that the fence confirms, as suspects and others. Exhausted work
-- is not counted, since no handler runs for it.
create or replace function flow.count_held(p_worker bigint, out p_suspects integer, out p_others integer) language plpgsql as $$
declare
    v_listed flow.result[] := flow.listed_work(p_worker);
begin
    select count(*) filter (where s.is_suspect), count(*) filter (where not s.is_suspect) into p_suspects, p_others
    from unnest(v_listed, flow.look_at_work(v_listed)) u(
        ord, run_id, step_index, task_index, batch, outcome, output, error, delay_ms, is_repeat,
        held_run, held_step, held_task, flow_id, row_id, status, queue_id, attempt, worker_id, held_batch, claimed_at,
        timeout_ms, is_exhausted)
    cross join lateral (
        select exists (
            select from flow.suspect s
            where s.run_id = u.run_id and s.step_index = u.step_index and s.task_index = u.task_index offset 0) as is_suspect
        offset 0
    ) s
    where u.status = 'started' and u.worker_id = p_worker and u.held_batch = u.batch and not u.is_exhausted;
end $$;
