-- Forget that work is suspect which a worker held as such and does not hold any more: it was settled, however it ended.
-- The caller has settled it in the same transaction.
create or replace function flow.clear_settled(p_self flow.worker_state) returns void language plpgsql as $$
begin
    delete from flow.suspect s
    using (
        select l.ctid as row_id from flow.suspect l
        where l.process_id = p_self.process_id and l.worker_id = p_self.worker_id
          and flow.why_lost(l.worker_id, l.run_id, l.step_index, l.task_index, l.batch) is not null
        offset 0
    ) l
    where s.ctid = l.row_id;
end $$;
