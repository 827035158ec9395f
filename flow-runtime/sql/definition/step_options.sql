-- List the options that apply to each step, in step order: its own where it has one, else the flow's.
create or replace function flow.step_options(p_options jsonb)
returns table (step_index integer, max_attempts integer, base_delay_ms bigint, max_delay_ms bigint, timeout_ms bigint,
               start_delay_ms bigint)
language sql immutable as $$
    select (s.ord - 1)::integer,
           (coalesce(s.own -> 'max_attempts', p_options -> 'max_attempts'))::integer,
           (coalesce(s.own -> 'base_delay_ms', p_options -> 'base_delay_ms'))::bigint,
           (coalesce(s.own -> 'max_delay_ms', p_options -> 'max_delay_ms'))::bigint,
           (coalesce(s.own -> 'timeout_ms', p_options -> 'timeout_ms'))::bigint,
           coalesce(s.own -> 'start_delay_ms', '0')::bigint
    from jsonb_array_elements(p_options -> 'steps') with ordinality s(own, ord)
$$;
