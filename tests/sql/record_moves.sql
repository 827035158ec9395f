-- From here on, keep every change of status of runs, steps and work in test.move, and every other change of a row that was terminal.
create table test.move (kind text, before text, after text, primary key (kind, before, after));

create function test.record_move() returns trigger language plpgsql as $$
begin
    if old.status <> new.status then
        insert into test.move values (tg_argv[0], old.status, new.status) on conflict do nothing;
    elsif old.ended_at is not null and old is distinct from new then
        insert into test.move values (tg_argv[0], old.status, 'changed') on conflict do nothing;
    end if;
    return null;
end $$;

-- The work of a single step, which is in the row of its step.
create function test.record_work() returns trigger language plpgsql as $$
begin
    insert into test.move
    select 'task', w.before, w.after
    from (select flow.work_status(old.status, old.skip_reason, old.queued_at, old.worker_id) as before,
                 flow.work_status(new.status, new.skip_reason, new.queued_at, new.worker_id) as after) w
    where w.before <> w.after
    on conflict do nothing;
    return null;
end $$;

create trigger record_move after update on flow.run for each row execute function test.record_move('run');
create trigger record_move after update on flow.step_state for each row execute function test.record_move('step');
create trigger record_move after update on flow.task for each row execute function test.record_move('task');
create trigger record_work after update on flow.step_state for each row execute function test.record_work();
