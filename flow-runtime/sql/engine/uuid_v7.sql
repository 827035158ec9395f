-- Make a UUIDv7 from the wall clock: 48 bits of milliseconds, then random bits. PostgreSQL before 18 has no such function.
create or replace function flow.uuid_v7() returns uuid language sql volatile as $$
    select encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                    from 1 for 6),
            52, 1), 53, 1), 'hex')::uuid
$$;
