-- Read the results of a worker's attempts from arrays with one entry an attempt; the results have the order of the arrays. An output that
-- cannot be stored, exceeds max_value_bytes, or holds a number that no reader could take makes that result a permanent failure and leaves
-- the others as they are.
create or replace function flow.read_results(
    p_runs uuid[], p_steps integer[], p_tasks integer[], p_batches bigint[],
    p_outcomes text[], p_outputs text[], p_errors text[], p_delays_ms bigint[]
) returns flow.result[] language plpgsql as $$
declare
    v_limit bigint;
    v_values jsonb[];
    v_refusals text[]; -- why each output cannot be taken, null where it can
begin
    select (s.value)::bigint into v_limit from flow.setting s where s.name = 'max_value_bytes';
    begin
        v_values := p_outputs::jsonb[];
    exception when data_exception or program_limit_exceeded then
        select array_agg(r.p_value order by o.ord), array_agg('the output cannot be stored: ' || r.p_error order by o.ord)
        into v_values, v_refusals
        from unnest(p_outputs) with ordinality o(output, ord) cross join lateral flow.read_json(o.output) r;
    end;
    perform from unnest(p_outputs) o(output) where flow.is_doubtful(o.output, v_limit);
    if found then
        select array_agg(coalesce(o.error, 'the output ' || e.p_error) order by o.ord) into v_refusals
        from unnest(p_outputs, v_values, v_refusals) with ordinality o(output, value, error, ord)
        left join lateral flow.value_error(o.output, o.value, v_limit) e
            on o.value is not null and flow.is_doubtful(o.output, v_limit);
    end if;
    return (
        select array_agg(row(
            u.ord, u.run_id, u.step_index, u.task_index, u.batch,
            case when u.outcome = 'complete' and u.refusal is not null then 'permanent' else u.outcome end, u.output,
            case when u.outcome = 'complete' then u.refusal else coalesce(u.error, u.outcome) end, u.delay_ms,
            u.place > 1)::flow.result order by u.ord)
        from (
            select s.*, row_number() over (partition by s.run_id, s.step_index, s.task_index, s.batch order by s.ord) as place
            from unnest(p_runs, p_steps, p_tasks, p_batches, p_outcomes, v_values, p_errors, p_delays_ms, v_refusals)
                 with ordinality s(run_id, step_index, task_index, batch, outcome, output, error, delay_ms, refusal, ord)
        ) u);
end $$;
