-- The view of tasks: a row a task, with slugs and queue names.
create or replace view flow.tasks as
select t.run_id, f.slug as flow, s.slug as step, t.task_index, t.status, t.attempt, q.name as queue, t.message_id,
       t.worker_id, t.queued_at, t.started_at, t.lease_until, t.ended_at, t.item, t.output
from flow.task t
join flow.flow f on f.flow_id = t.flow_id
join flow.step s on s.flow_id = t.flow_id and s.step_index = t.step_index
join flow.queue q on q.queue_id = t.queue_id;
