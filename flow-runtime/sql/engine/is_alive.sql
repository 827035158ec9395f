-- Tell whether a worker is alive: the worker has not stopped, and its process has neither stopped nor been ended and still has its lease.
create or replace function flow.is_alive(p_worker flow.worker) returns boolean language sql stable as $$
    select p_worker.stopped_at is null and exists (
        select from flow.process p
        where p.process_id = p_worker.process_id and p.ended_at is null and p.stopped_at is null
          and p.lease_until > clock_timestamp())
$$;
