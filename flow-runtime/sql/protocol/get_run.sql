-- Read one run: the slug of its flow, its status, error and output. Returns no row when there is no such run.
create or replace function flow.get_run(p_run uuid)
returns table (flow text, status text, error_step text, error text, output text) language sql stable as $$
    select f.slug, r.status::text, s.slug, r.error, r.output::text
    from flow.run r
    join flow.flow f on f.flow_id = r.flow_id
    left join flow.step s on s.flow_id = r.flow_id and s.step_index = r.error_step
    where r.run_id = p_run
$$;
