-- Return the number of elements in one piece of a large map.
create or replace function flow.piece_size() returns integer language sql immutable as $$
    select 1000
$$;
