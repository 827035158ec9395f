-- From here on, keep every change of status that is not a legal move (docs/behaviours.md, I14) in flow.illegal_move.
create table flow.illegal_move (kind text, before text, after text);

create function flow.watch_move() returns trigger language plpgsql as $$
begin
    insert into flow.illegal_move
    select tg_table_name, old.status, new.status
    where old.status <> new.status
      and not exists (
          select from (values
              ('run', 'started', '{completed,failed,cancelled}'),
              ('step_state', 'created', '{started,completed,failed,skipped,cancelled}'),
              ('step_state', 'started', '{completed,failed,skipped,cancelled}'),
              ('task', 'queued', '{started,skipped,cancelled}'),
              ('task', 'started', '{queued,completed,failed,skipped,cancelled}')
          ) m(kind, before, after)
          where m.kind = tg_table_name and m.before = old.status::text and new.status::text = any (m.after::text[]));
    return null;
end $$;

create function flow.watch_attempt() returns trigger language plpgsql as $$
begin
    insert into flow.illegal_move
    select 'attempt', old.attempt::text, new.attempt::text
    where case
        when old.worker_id is null and new.worker_id is not null then new.attempt <> old.attempt + (not new.is_exhausted)::integer
        when new.worker_id is distinct from old.worker_id and new.worker_id is not null
            then new.attempt not in (old.attempt, old.attempt + 1)
        when old.worker_id is not null and new.worker_id is null then new.attempt not in (old.attempt, old.attempt - 1)
        else new.attempt not in (old.attempt, old.attempt + (old.worker_id is not null and new.worker_id is not null)::integer) end;
    return null;
end $$;

create trigger watch_move after update on flow.run for each row execute function flow.watch_move();
create trigger watch_move after update on flow.step_state for each row execute function flow.watch_move();
create trigger watch_move after update on flow.task for each row execute function flow.watch_move();
create trigger watch_attempt after update on flow.step_state for each row execute function flow.watch_attempt();
create trigger watch_attempt after update on flow.task for each row execute function flow.watch_attempt();
