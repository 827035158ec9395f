-- List the schemas of a contract: the input's at index -1, then the outputs' in step order.
create or replace function flow.list_contract(p_contract jsonb)
returns table (step_index integer, schema jsonb, hash text) language sql immutable as $$
    select -1, p_contract -> 'input' -> 'schema', p_contract -> 'input' ->> 'hash'
    union all
    select (o.ord - 1)::integer, o.output -> 'schema', o.output ->> 'hash'
    from jsonb_array_elements(p_contract -> 'outputs') with ordinality o(output, ord)
$$;
