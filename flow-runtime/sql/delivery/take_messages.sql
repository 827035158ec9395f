-- Remove messages of a worker's queue that the same transaction has read and locked.
create or replace function flow.take_messages(p_self flow.worker_state, p_deliveries flow.delivery[]) returns void
language plpgsql as $$
begin
    if p_self.message_ids is not null then
        perform flow.pgmq_remove(p_self.queue, array(select d.message_id from unnest(p_deliveries) d));
    else
        delete from flow.message m using unnest(p_deliveries) d where m.ctid = d.row_id;
    end if;
end $$;
