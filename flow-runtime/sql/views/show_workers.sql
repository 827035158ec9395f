-- The view of workers: a row a worker, with slugs and queue names. A worker is alive when it has not stopped and its process still has its
-- lease.
create or replace view flow.workers as
select w.worker_id, w.name, f.slug as flow, q.name as queue,
       flow.is_alive(w) as alive, w.process_id, p.name as process,
       array(select s.slug::text from unnest(w.steps) with ordinality u(step_index, ord)
             join flow.step s on s.flow_id = w.flow_id and s.step_index = u.step_index order by u.ord) as steps,
       w.started_at, p.seen_at, p.lease_until, w.draining_at, w.stopped_at, n.disabled_at, n.disabled_why
from flow.worker w
left join flow.process p on p.process_id = w.process_id
left join flow.flow f on f.flow_id = w.flow_id
left join flow.queue q on q.queue_id = w.queue_id
left join flow.worker_name n on n.name = w.name and n.disabled_at is not null;
