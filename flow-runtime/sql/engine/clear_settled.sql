-- Delete the suspect rows of work that the worker has settled in this transaction, whatever the outcome: work that the worker held as a
-- suspect and holds no more.
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
