-- Tell whether a value, given as text, needs flow.value_error: PostgreSQL may write it with more than p_limit bytes (each byte of a number
-- can become 320 digits), or it has an exponent of three digits or 255 digits in a row, so that it may hold a number that no reader could
-- take.
create or replace function flow.is_doubtful(p_text text, p_limit bigint) returns boolean language sql immutable as $$
    select octet_length(p_text) * 320::bigint > p_limit or p_text ~ '[0-9][eE][-+]?[0-9]{3}|[0-9]{255}'
$$;
