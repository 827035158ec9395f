-- From how many elements on a map is large: at most so many of its tasks are live at a time, and the others wait in pieces.
create or replace function flow.large_map() returns integer language sql immutable as $$
    select 10000
$$;
