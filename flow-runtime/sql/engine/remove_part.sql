-- Remove at most p_most rows of a run that has more: its attempt errors, then its tasks, its pieces, and last its step states with the run
-- itself. The run's key goes with the first call, so that a new start may take it. flow.removal keeps the place that the removal has
-- reached, so that no call walks over rows that earlier calls have removed.
-- Returns whether the run is gone. The caller holds the locks of the run and of its key.
create or replace function flow.remove_part(p_run uuid, p_most integer) returns boolean language plpgsql as $$
declare
    v_place flow.removal;
    v_gone record;
    v_left integer := p_most;
begin
    insert into flow.removal (run_id) values (p_run) on conflict do nothing;
    delete from flow.run_key k where k.run_id = p_run;
    select r.* into v_place from flow.removal r where r.run_id = p_run;

    if v_place.has_errors then
        with removed as (
            delete from flow.attempt_error e
            using (select l.ctid as row_id from flow.attempt_error l
                   where l.run_id = p_run and (l.step_index, l.task_index) >= (v_place.step_index, v_place.task_index)
                   order by l.step_index, l.task_index limit v_left) l
            where e.ctid = l.row_id
            returning e.step_index, e.task_index
        )
        select count(*) over () as rows, r.step_index, r.task_index into v_gone
        from removed r order by r.step_index desc, r.task_index desc limit 1;
        v_left := v_left - coalesce(v_gone.rows, 0);
        update flow.removal r
        set has_errors = v_left = 0, step_index = case when v_left = 0 then v_gone.step_index else -1 end,
            task_index = case when v_left = 0 then v_gone.task_index else -1 end
        where r.run_id = p_run returning r.* into v_place;
    end if;
    if v_left > 0 then
        with removed as (
            delete from flow.task t
            using (select l.ctid as row_id from flow.task l
                   where l.run_id = p_run and (l.step_index, l.task_index) >= (v_place.step_index, v_place.task_index)
                   order by l.step_index, l.task_index limit v_left) l
            where t.ctid = l.row_id
            returning t.step_index, t.task_index
        )
        select count(*) over () as rows, r.step_index, r.task_index into v_gone
        from removed r order by r.step_index desc, r.task_index desc limit 1;
        if found then
            v_left := v_left - v_gone.rows;
            update flow.removal r set step_index = v_gone.step_index, task_index = v_gone.task_index where r.run_id = p_run;
        end if;
    end if;
    if v_left > 0 then
        delete from flow.piece p
        using (select l.ctid as row_id from flow.piece l where l.run_id = p_run limit v_left) l
        where p.ctid = l.row_id;
        get diagnostics v_gone.rows = row_count;
        v_left := v_left - v_gone.rows;
    end if;
    if v_left <= 0 then
        return false;
    end if;
    delete from flow.step_state ss where ss.run_id = p_run;
    delete from flow.run r where r.run_id = p_run;
    delete from flow.removal r where r.run_id = p_run;
    return true;
end $$;
