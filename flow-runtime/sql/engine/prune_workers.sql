-- Remove workers and processes that were last seen before p_before, looking at up to p_limit of each, the oldest first. Workers that are
-- alive stay, and workers whose hands list work that is still to be recovered.
-- Returns whether there may be more.
create or replace function flow.prune_workers(p_before timestamptz, p_limit integer) returns boolean language plpgsql as $$
declare
    v_workers integer;
    v_processes integer;
begin
    delete from flow.worker w
    using (select l.worker_id
           from (select o.* from flow.worker o where o.started_at < p_before order by o.started_at limit p_limit) l
           left join flow.process p on p.process_id = l.process_id
           -- A process that has not stopped by itself may only be frozen: its workers stay for an hour after it was last seen.
           where (coalesce(l.stopped_at, p.stopped_at) < p_before
                  or coalesce(p.seen_at, l.started_at) < least(p_before, clock_timestamp() - interval '1 h'))
             and not flow.is_alive(l)
             and not exists (select from flow.hand h where h.worker_id = l.worker_id)
           order by l.worker_id) c
    cross join lateral (
        select k.ctid as row_id from flow.worker k where k.worker_id = c.worker_id for update skip locked
    ) k
    where w.ctid = k.row_id;
    get diagnostics v_workers = row_count;
    delete from flow.process p
    using (select l.process_id
           from (select o.* from flow.process o where o.started_at < p_before order by o.started_at limit p_limit) l
           where coalesce(l.stopped_at, l.ended_at) < p_before
             and not exists (select from flow.worker w where w.process_id = l.process_id)
           order by l.process_id) c
    cross join lateral (
        select k.ctid as row_id from flow.process k where k.process_id = c.process_id for update skip locked
    ) k
    where p.ctid = k.row_id;
    get diagnostics v_processes = row_count;
    return greatest(v_workers, v_processes) = p_limit;
end $$;
