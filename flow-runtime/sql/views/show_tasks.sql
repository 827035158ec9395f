-- The view of work: a row for each single step that has begun, under index 0, and for each task of a map, with slugs and queue names.
create or replace view flow.tasks as
select w.run_id, f.slug as flow, s.slug as step, w.step_index, w.task_index, w.status, w.attempt, q.name as queue, w.priority, w.age, w.worker_id,
       w.batch, w.queued_at, w.claimed_at, w.ended_at, w.item, w.output
from (
    select t.run_id, t.step_index, t.task_index, t.flow_id, t.status, t.attempt, t.queue_id, t.priority, t.age, t.worker_id, t.batch,
           t.queued_at, t.claimed_at, t.ended_at, t.item, t.output
    from flow.task t
    union all
    select ss.run_id, ss.step_index, 0, ss.flow_id, flow.work_status(ss.status, ss.skip_reason, ss.queued_at, ss.worker_id),
           ss.attempt, ss.queue_id, ss.priority, ss.age, ss.worker_id, ss.batch, ss.queued_at, ss.claimed_at, ss.ended_at, null,
           null
    from flow.step_state ss
    where ss.queued_at is not null
) w
join flow.flow f on f.flow_id = w.flow_id
join flow.step s on s.flow_id = w.flow_id and s.step_index = w.step_index
join flow.queue q on q.queue_id = w.queue_id;
