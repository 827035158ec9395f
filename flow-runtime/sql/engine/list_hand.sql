-- List what an exchange hands out in the worker's hand, and delete the rows whose batches are all in p_finished. Where the hand has seven
-- rows already, they are folded into one together with the new claims, without the work that the worker no longer holds. So the hand stays
-- small, however long one piece of work takes.
create or replace function flow.list_hand(p_worker bigint, p_batch bigint, p_claims flow.claim[], p_finished bigint[])
returns void language plpgsql as $$
declare
    v_rows bigint[];
begin
    if cardinality(p_finished) > 0 then
        -- The newest row of an exchange stays: flow.exchange recognizes a repeated exchange by its number.
        delete from flow.hand h
        where h.worker_id = p_worker and h.batches <@ p_finished
          and (p_claims is not null or not h.is_exchange
               or h.batch < (select max(n.batch) from flow.hand n where n.worker_id = p_worker and n.is_exchange));
    end if;
    if p_claims is null then
        return;
    end if;
    v_rows := array(select h.batch from flow.hand h where h.worker_id = p_worker);
    if cardinality(v_rows) < 7 then
        insert into flow.hand (worker_id, batch, is_exchange, runs, steps, tasks, batches)
        select p_worker, p_batch, true, array_agg(c.run_id), array_agg(c.step_index), array_agg(c.task_index), array_agg(p_batch)
        from unnest(p_claims) c;
        return;
    end if;
    with folded as (
        delete from flow.hand h where h.worker_id = p_worker and h.batch = any (v_rows)
        returning h.runs, h.steps, h.tasks, h.batches
    )
    insert into flow.hand (worker_id, batch, is_exchange, runs, steps, tasks, batches)
    select p_worker, p_batch, true, array_agg(u.run_id), array_agg(u.step_index), array_agg(u.task_index), array_agg(u.batch)
    from (
        select u.* from folded f
        cross join lateral unnest(f.runs, f.steps, f.tasks, f.batches) u(run_id, step_index, task_index, batch)
        where flow.why_lost(p_worker, u.run_id, u.step_index, u.task_index, u.batch) is null
        union all
        select c.run_id, c.step_index, c.task_index, p_batch from unnest(p_claims) c
    ) u;
end $$;
