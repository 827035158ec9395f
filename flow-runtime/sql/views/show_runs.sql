-- The view of runs: a row a run, with slugs.
create or replace view flow.runs as
select r.run_id, f.slug as flow, r.status, r.remaining_steps, f.step_count, r.started_at, r.due_at, r.ended_at,
       s.slug as error_step, r.error, r.retry_of, r.input, r.output
from flow.run r
join flow.flow f on f.flow_id = r.flow_id
left join flow.step s on s.flow_id = r.flow_id and s.step_index = r.error_step;
