-- From here on, keep in test.broken_hold whatever a transaction leaves behind that breaks docs/behaviours.md, I11: started work that is
-- not listed exactly once in the hand of its worker, or that another hand lists under the same batch. Looks at each commit.
create table test.broken_hold (what text);

create function test.check_hold(p_run uuid, p_step integer, p_task integer) returns void language plpgsql as $$
declare
    v_work record;
    v_own integer;
    v_foreign integer;
begin
    select w.worker_id, w.batch into v_work from (
        select t.worker_id, t.batch from flow.task t
        where t.run_id = p_run and t.step_index = p_step and t.task_index = p_task and t.status = 'started'
        union all
        select ss.worker_id, ss.batch from flow.step_state ss
        where p_task = -1 and ss.run_id = p_run and ss.step_index = p_step and ss.status = 'started' and ss.worker_id is not null) w;
    if not found then
        return;
    end if;
    select count(*) filter (where h.worker_id = v_work.worker_id), count(*) filter (where h.worker_id <> v_work.worker_id)
    into v_own, v_foreign
    from flow.hand h cross join lateral unnest(h.runs, h.steps, h.tasks, h.batches) u(run_id, step_index, task_index, batch)
    where u.run_id = p_run and u.step_index = p_step and u.task_index = p_task and u.batch = v_work.batch;
    if v_own <> 1 or v_foreign <> 0 then
        insert into test.broken_hold values (format('%s.%s.%s of batch %s is listed %s times by its worker and %s times by others', p_run,
                                                    p_step, p_task, v_work.batch, v_own, v_foreign));
    end if;
end $$;

create function test.watch_hold() returns trigger language plpgsql as $$
begin
    if tg_table_name = 'hand' then
        perform test.check_hold(u.run_id, u.step_index, u.task_index)
        from unnest(coalesce(old.runs, '{}') || coalesce(new.runs, '{}'), coalesce(old.steps, '{}') || coalesce(new.steps, '{}'),
                    coalesce(old.tasks, '{}') || coalesce(new.tasks, '{}')) u(run_id, step_index, task_index);
    else
        perform test.check_hold(new.run_id, new.step_index, coalesce((to_jsonb(new) ->> 'task_index')::integer, -1));
    end if;
    return null;
end $$;

create constraint trigger watch_hold after insert or update on flow.task
deferrable initially deferred for each row execute function test.watch_hold();
create constraint trigger watch_hold after insert or update on flow.step_state
deferrable initially deferred for each row execute function test.watch_hold();
create constraint trigger watch_hold after insert or update or delete on flow.hand
deferrable initially deferred for each row execute function test.watch_hold();
