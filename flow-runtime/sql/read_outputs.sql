-- Read the outputs of a batch as JSON. An output that cannot be stored, is over the limit, or holds a number that no reader could
-- take gets an error text in place of its value; the others of the batch are not affected.
create or replace function flow.read_outputs(
    p_outputs text[], out p_values jsonb[], out p_errors text[]
) language plpgsql as $$
declare
    v_limit bigint;
begin
    select (s.value)::bigint into v_limit from flow.setting s where s.name = 'max_value_bytes';
    begin
        p_values := p_outputs::jsonb[];
    exception when data_exception or program_limit_exceeded then
        select array_agg(r.p_value order by o.ord), array_agg('the output cannot be stored: ' || r.p_error order by o.ord)
        into p_values, p_errors
        from unnest(p_outputs) with ordinality o(output, ord) cross join lateral flow.read_json(o.output) r;
    end;
    perform from unnest(p_outputs) o(output) where flow.is_doubtful(o.output, v_limit);
    if found then
        select array_agg(coalesce(o.error, 'the output ' || e.p_error) order by o.ord) into p_errors
        from unnest(p_outputs, p_values, p_errors) with ordinality o(output, value, error, ord)
        left join lateral flow.value_error(o.output, o.value, v_limit) e
            on o.value is not null and flow.is_doubtful(o.output, v_limit);
    end if;
end $$;
