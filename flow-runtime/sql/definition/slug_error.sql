-- Say what is wrong with a slug of at most p_max characters; null when nothing is. flow-core has the same rule.
create or replace function flow.slug_error(p_slug text, p_max integer) returns text language sql immutable as $$
    select case
        when p_slug is null or p_slug = '' then 'is empty'
        when length(p_slug) > p_max then format('has %s characters, at most %s are allowed', length(p_slug), p_max)
        when p_slug !~ '^[A-Za-z][A-Za-z0-9_]*$' then
            'must begin with a letter and hold only ASCII letters, digits and underscores'
        when p_slug ~ '_$' or p_slug ~ '__' then 'must not end with an underscore or hold two in a row'
    end
$$;
