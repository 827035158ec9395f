-- Remove what queue p_queue archived before p_before.
create or replace function flow.queue_prune(p_queue text, p_before timestamptz) returns void language plpgsql as $$
begin
    if to_regclass(format('pgmq.%I', 'a_' || p_queue)) is not null then
        execute format('delete from pgmq.%I a where a.archived_at < $1', 'a_' || p_queue) using p_before;
    end if;
end $$;
