-- List what a start hands out in the worker's hand, in a row of its own. flow.exchange ignores the rows of starts (is_exchange is false)
-- when it looks for a repeated exchange, so the numbers of exchanges and of starts may be committed in any order.
create or replace function flow.list_start(p_worker bigint, p_batch bigint, p_claims flow.claim[]) returns void language sql as $$
    insert into flow.hand (worker_id, batch, is_exchange, runs, steps, tasks, batches)
    select p_worker, p_batch, false, array_agg(c.run_id), array_agg(c.step_index), array_agg(c.task_index), array_agg(p_batch)
    from unnest(p_claims) c
$$;
