-- How many elements of a large map are a piece.
create or replace function flow.piece_size() returns integer language sql immutable as $$
    select 1000
$$;
