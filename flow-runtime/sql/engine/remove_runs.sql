-- Remove ended runs with their keys, step states, tasks and attempt errors. p_runs is what flow.fit_runs chose: runs with at most p_most
-- rows together, or a single run that has more, of which a call removes p_most rows.
-- Returns the runs that are gone. The caller holds the locks of the runs and of their keys.
create or replace function flow.remove_runs(p_runs uuid[], p_most integer) returns uuid[] language plpgsql as $$
begin
    if cardinality(p_runs) = 1 and (exists (select from flow.removal r where r.run_id = p_runs[1])
                                    or flow.count_rows(p_runs[1], p_most + 1) > p_most) then
        return case when flow.remove_part(p_runs[1], p_most) then p_runs else '{}' end;
    end if;
    delete from flow.attempt_error e using unnest(p_runs) r(run_id) where e.run_id = r.run_id;
    delete from flow.task t using unnest(p_runs) r(run_id) where t.run_id = r.run_id;
    delete from flow.piece p using unnest(p_runs) r(run_id) where p.run_id = r.run_id;
    delete from flow.step_state ss using unnest(p_runs) r(run_id) where ss.run_id = r.run_id;
    delete from flow.run_key k using unnest(p_runs) r(run_id) where k.run_id = r.run_id;
    delete from flow.removal m using unnest(p_runs) r(run_id) where m.run_id = r.run_id;
    delete from flow.run r using unnest(p_runs) p(run_id) where r.run_id = p.run_id;
    return p_runs;
end $$;
