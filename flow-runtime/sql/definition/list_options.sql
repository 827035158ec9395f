-- List the options with a number, by the names that they have in a definition and as columns of flow.step: whether flows take them too,
-- their bounds, and what applies where none is given. Written from flow-core/src/options.rs by its tests (FLOW_WRITE_OPTIONS=1).
create or replace function flow.list_options()
returns table (name text, is_of_flows boolean, lowest bigint, highest bigint, default_value bigint) language sql immutable as $$
    select o.* from (values
        ('max_attempts', true, 1, 1000, 3),
        ('base_delay_ms', true, 0, 31536000000, 1000),
        ('max_delay_ms', true, 0, 31536000000, 300000),
        ('timeout_ms', true, 1, 86400000, 60000),
        ('start_delay_ms', false, 0, 31536000000, 0),
        ('priority', false, 1, 9, 5)
    ) o(name, is_of_flows, lowest, highest, default_value)
$$;
