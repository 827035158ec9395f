-- Return the number of elements above which a map is large. At most this many of its tasks are live at a time; the other elements wait in
-- pieces.
create or replace function flow.large_map() returns integer language sql immutable as $$
    select 10000
$$;
