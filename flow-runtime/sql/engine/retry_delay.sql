-- Return the wait in milliseconds before the retry that follows attempt p_attempt, without jitter: p_base_ms doubled with each further
-- attempt, at most p_max_ms. flow-core's retry schedule has the same formula: failure::delays_double_up_to_the_longest and
-- retry::tests::delays_double_up_to_the_cap check both against one list of delays.
create or replace function flow.retry_delay(p_base_ms bigint, p_max_ms bigint, p_attempt integer)
returns bigint language sql immutable as $$
    select least(p_max_ms::numeric, p_base_ms::numeric * power(2::numeric, least(p_attempt - 1, 62)))::bigint
$$;
