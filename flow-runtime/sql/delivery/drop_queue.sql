-- Drop a private queue with its messages: PGMQ's tables and the registry row.
create or replace function flow.drop_queue(p_name text) returns void language plpgsql as $$
begin
    perform pgmq.drop_queue(p_name);
    delete from flow.queue q where q.name = p_name;
end $$;
