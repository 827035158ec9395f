-- The view of step states: a row a step of a run, with slugs.
create or replace view flow.steps as
select ss.run_id, f.slug as flow, s.slug as step, ss.step_index, s.kind, ss.status, ss.skip_reason,
       ss.remaining_deps, ss.task_count, ss.remaining_tasks, r.started_at as created_at, ss.started_at, ss.ended_at,
       ss.error, ss.output
from flow.step_state ss
join flow.run r on r.run_id = ss.run_id
join flow.flow f on f.flow_id = ss.flow_id
join flow.step s on s.flow_id = ss.flow_id and s.step_index = ss.step_index;
