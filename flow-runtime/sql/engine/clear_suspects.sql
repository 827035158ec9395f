-- Delete the suspect rows of the given steps, or of whole runs where a step index is null: their work has ended.
-- The caller holds the locks of the runs.
create or replace function flow.clear_suspects(p_steps flow.step_ref[]) returns void language plpgsql as $$
begin
    delete from flow.suspect s
    using unnest(p_steps) e
    cross join lateral (
        select l.ctid as row_id from flow.suspect l
        where l.run_id = e.run_id and (e.step_index is null or l.step_index = e.step_index) for update
    ) l
    where s.ctid = l.row_id;
end $$;
