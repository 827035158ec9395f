-- Whether a value, given as text, may be larger than p_limit bytes as PostgreSQL writes it, or hold a number that no reader could
-- take: it has an exponent of three digits or very many digits, or it is so long that its numbers may write out over the limit.
create or replace function flow.is_doubtful(p_text text, p_limit bigint) returns boolean language sql immutable as $$
    select octet_length(p_text) * 320::bigint > p_limit or p_text ~ '[0-9][eE][-+]?[0-9]{3}|[0-9]{255}'
$$;
