-- The view of queues: owner, pause, how many messages wait and since when, how many workers are alive, how many suspects wait, and how much
-- work is stranded (nobody would ever take it up; flow.repair_queue does).
-- Counts the messages of every queue that it shows, so it is for people and tools, not for hot paths.
create or replace view flow.queues as
select q.queue_id, q.name as queue, q.ownership, f.slug as flow, q.delivery, q.on_remove, q.paused_at, q.paused_by, q.paused_why,
       c.messages, c.visible, c.oldest_at,
       (select count(*) from flow.worker w
        where w.queue_id = q.queue_id and w.stopped_at is null and flow.is_alive(w)) as workers,
       (select count(*) from flow.suspect s where s.queue_id = q.queue_id and s.process_id is null) as suspects,
       flow.count_stranded(q) as stranded
from flow.queue q
left join flow.flow f on f.flow_id = q.flow_id
cross join lateral flow.count_messages(q) c;
