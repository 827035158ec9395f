-- Count the rows of a run in step_state, task, piece and attempt_error, at most p_most of each table.
create or replace function flow.count_rows(p_run uuid, p_most integer) returns bigint language plpgsql stable as $$
begin
    return (select count(*) from (select from flow.step_state ss where ss.run_id = p_run limit p_most) r)
         + (select count(*) from (select from flow.task t where t.run_id = p_run limit p_most) r)
         + (select count(*) from (select from flow.piece p where p.run_id = p_run limit p_most) r)
         + (select count(*) from (select from flow.attempt_error e where e.run_id = p_run limit p_most) r);
end $$;
