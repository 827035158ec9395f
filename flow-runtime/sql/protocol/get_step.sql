-- Read one step of a run by its slug: the slug of its flow, its status, skip reason, error and output. Returns no row when there is no such
-- run, and a null status when the run's flow has no such step.
create or replace function flow.get_step(p_run uuid, p_step text)
returns table (flow text, status text, skip_reason text, error text, output text) language sql stable as $$
    select f.slug, ss.status::text, ss.skip_reason::text, ss.error, ss.output::text
    from flow.run r
    join flow.flow f on f.flow_id = r.flow_id
    left join flow.step s on s.flow_id = r.flow_id and s.slug = p_step
    left join flow.step_state ss on ss.run_id = r.run_id and ss.step_index = s.step_index
    where r.run_id = p_run
$$;
