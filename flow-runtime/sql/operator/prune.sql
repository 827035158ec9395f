-- Remove runs that ended before `before`, at most `max_runs` of them, with their steps, tasks, attempt errors and keys; and workers and
-- processes that were last seen, and messages that were archived, before that instant.
-- Runs that have not ended stay, however old. So do workers that are alive or whose hands list work that is still to be recovered, and a
-- run whose completed tasks a retry counts, until the retry has completed.
-- Returns how many runs were removed, and whether there is more to do: call again while has_more is true. A call looks at some ten thousand
-- runs and removes some ten thousand rows; a larger run is removed in parts, the run's own row last.
-- Calls that follow each other within ten minutes go on where the last one stopped, also when `before` moves on with the clock.
-- Takes runs and keys that nobody else has locked, then their rows; a run stays while a start is reading its key.
create or replace function flow.prune(before timestamptz, max_runs integer default 1000, out runs integer, out has_more boolean)
language plpgsql as $$
declare
    v_most constant integer := 10000;
    v_walk flow.pruning;
    v_next flow.pruning; -- the place where the next call goes on
    v_seen record;
    v_runs uuid[];
    v_is_done boolean := false;
    v_removed uuid[];
    v_sources uuid[]; -- older runs whose completed tasks the removed runs counted
    v_place record;
begin
    perform flow.require_read_committed();
    if prune.before is null or coalesce(max_runs, 0) < 1 then
        raise exception 'flow.prune takes an instant and how many runs a call may remove, at least 1, not % and %',
            coalesce(prune.before::text, 'null'), coalesce(max_runs::text, 'null') using errcode = 'WF012';
    end if;
    select p.* into v_walk from flow.pruning p
    where p.before <= prune.before and prune.before <= p.before + (clock_timestamp() - p.began_at)
      and p.called_at > clock_timestamp() - interval '10 min'
    order by p.before desc limit 1 for update skip locked;
    if not found then
        v_walk := row(null, prune.before, now(), now(), null, 0, '-infinity', '00000000-0000-0000-0000-000000000000')::flow.pruning;
    end if;
    if v_walk.in_parts is null then
        select w.* into v_seen from flow.walk_runs(v_walk, max_runs, v_most) w;
        v_next := v_seen.p_next;
        v_runs := v_seen.p_runs;
        v_is_done := v_seen.p_is_done;
    else
        v_next := v_walk;
        v_runs := array[v_walk.in_parts];
    end if;

    v_runs := array(
        select r.run_id from unnest(v_runs) with ordinality u(run_id, ord)
        cross join lateral (select r.run_id from flow.run r where r.run_id = u.run_id for update skip locked) r
        order by u.ord);
    -- The statements below come after the locks, so that they see retries and starts that were committed before.
    v_runs := array(
        select u.run_id from unnest(v_runs) with ordinality u(run_id, ord)
        where u.run_id <> all (array(
            select n.retry_of from unnest(v_runs) l(run_id)
            cross join lateral (
                select n.run_id, n.retry_of from flow.run n
                where n.retry_of = l.run_id and n.status <> 'completed' offset 0) n
            cross join lateral (
                select from flow.step_state ss where ss.run_id = n.run_id and ss.taken_from = l.run_id limit 1) ss))
        order by u.ord);
    v_runs := array(
        select u.run_id from unnest(v_runs) with ordinality u(run_id, ord)
        where not exists (
            select from flow.run_key k where k.run_id = u.run_id and (k.flow_id, k.key) not in (
                select l.flow_id, l.key from flow.run_key l where l.run_id = any (v_runs) for update skip locked))
        order by u.ord);

    v_removed := flow.fit_runs(v_runs, v_most);
    if cardinality(v_removed) < cardinality(v_runs) then
        select r.flow_id, r.started_at, r.run_id into v_place
        from flow.run r where r.run_id = v_removed[cardinality(v_removed)];
        v_next.flow_id := v_place.flow_id;
        v_next.started_at := v_place.started_at;
        v_next.run_id := v_place.run_id;
        v_is_done := false;
    end if;
    v_sources := array(
        select distinct ss.taken_from from unnest(v_removed) u(run_id)
        cross join lateral (
            select ss.taken_from from flow.step_state ss where ss.run_id = u.run_id and ss.taken_from is not null offset 0) ss);
    v_next.in_parts := v_removed[1];
    v_removed := flow.remove_runs(v_removed, v_most);
    runs := cardinality(v_removed);
    if runs > 0 then
        v_next.in_parts := null;
        -- Older runs that only the removed runs kept may go now, but the walk has passed them: it goes back to the oldest of them.
        select r.flow_id, r.started_at, r.run_id into v_place
        from unnest(v_sources) u(run_id)
        cross join lateral (select r.flow_id, r.started_at, r.run_id from flow.run r where r.run_id = u.run_id offset 0) r
        order by r.flow_id, r.started_at, r.run_id limit 1;
        if found and (v_place.flow_id, v_place.started_at, v_place.run_id) <= (v_next.flow_id, v_next.started_at, v_next.run_id) then
            v_next.flow_id := v_place.flow_id;
            v_next.started_at := v_place.started_at - interval '1 us';
            v_is_done := false;
        end if;
    end if;

    has_more := not v_is_done or v_next.in_parts is not null;
    if not has_more then
        delete from flow.pruning p where p.pruning_id = v_walk.pruning_id;
    elsif v_walk.pruning_id is null then
        delete from flow.pruning p where p.called_at < clock_timestamp() - interval '1 day';
        insert into flow.pruning (before, began_at, called_at, in_parts, flow_id, started_at, run_id)
        values (v_walk.before, v_walk.began_at, clock_timestamp(), v_next.in_parts, v_next.flow_id, v_next.started_at, v_next.run_id);
    else
        update flow.pruning p
        set called_at = clock_timestamp(), in_parts = v_next.in_parts, flow_id = v_next.flow_id, started_at = v_next.started_at,
            run_id = v_next.run_id
        where p.pruning_id = v_walk.pruning_id;
    end if;

    has_more := flow.prune_workers(prune.before, v_most) or has_more;
    has_more := coalesce((
        select bool_or(flow.prune_archive(q, prune.before, least(max_runs, v_most)) = least(max_runs, v_most))
        from flow.queue q where q.delivery = 'pgmq'), false) or has_more;
end $$;
