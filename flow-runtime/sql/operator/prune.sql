-- Remove runs that ended before `before`, at most `max_runs` of them, with their steps, tasks, history and keys; and all
-- workers and processes last seen, and messages archived, before it. Runs that have not ended stay, however old, and so do workers
-- that are alive, or whose hands list work that is yet to be recovered.
-- Returns how many runs were removed: call it until that is 0. Takes runs and keys that nobody has locked, then their rows; a run
-- whose key a start is just looking at stays.
create or replace function flow.prune(before timestamptz, max_runs integer default 1000)
returns integer language plpgsql
set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $$
declare
    v_runs uuid[];
begin
    perform flow.require_read_committed();
    select coalesce(array_agg(r.run_id), '{}') into v_runs
    from (select l.run_id from flow.run l
          where l.status <> 'started' and l.ended_at < before
            -- What a retry of it counts on stays until that has ended well.
            and not exists (
                select from flow.run n join flow.step_state ss on ss.run_id = n.run_id
                where n.retry_of = l.run_id and n.status <> 'completed' and ss.taken_from = l.run_id)
          limit max_runs for update skip locked) r;

    v_runs := array(
        select r.run_id from unnest(v_runs) r(run_id)
        except
        select k.run_id from flow.run_key k
        where k.run_id = any (v_runs) and (k.flow_id, k.key) not in (
            select l.flow_id, l.key from flow.run_key l where l.run_id = any (v_runs) for update skip locked));

    delete from flow.attempt_error e using unnest(v_runs) r(run_id) where e.run_id = r.run_id;
    delete from flow.task t using unnest(v_runs) r(run_id) where t.run_id = r.run_id;
    delete from flow.piece p using unnest(v_runs) r(run_id) where p.run_id = r.run_id;
    delete from flow.step_state ss using unnest(v_runs) r(run_id) where ss.run_id = r.run_id;
    delete from flow.run_key k using unnest(v_runs) r(run_id) where k.run_id = r.run_id;
    delete from flow.run r using unnest(v_runs) p(run_id) where r.run_id = p.run_id;

    delete from flow.worker w
    using (select l.worker_id from flow.worker l
           left join flow.process p on p.process_id = l.process_id
           -- A process that was ended without a goodbye may only have been frozen: it is given an hour.
           where (coalesce(l.stopped_at, p.stopped_at) < before
                  or coalesce(p.seen_at, l.started_at) < least(before, clock_timestamp() - interval '1 h'))
             and not flow.is_alive(l)
             and not exists (select from flow.hand h where h.worker_id = l.worker_id)
           order by l.worker_id for update of l skip locked) l
    where w.worker_id = l.worker_id;
    delete from flow.process p
    using (select l.process_id from flow.process l
           where coalesce(l.stopped_at, l.ended_at) < before
             and not exists (select from flow.worker w where w.process_id = l.process_id)
           order by l.process_id for update skip locked) l
    where p.process_id = l.process_id;
    perform flow.prune_archive(q, before, max_runs) from flow.queue q;
    return cardinality(v_runs);
end $$;
