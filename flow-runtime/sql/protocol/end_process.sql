-- End a process whose lease is over: from here on no result of its workers counts, and the work that they hold may be recovered. The
-- numbers of suspects and others that they hold are stored with the process, because the work is recovered in several transactions and each
-- of them needs the whole number.
-- Returns whether the process has ended or stopped. Never waits: a process that is in the middle of a call is ended by a later try.
create or replace function flow.end_process(p_process bigint) returns boolean language plpgsql as $$
declare
    v_held record;
begin
    if not pg_try_advisory_xact_lock(p_process) then
        return false;
    end if;
    -- This statement comes after the lock, so that it sees every renewal of the lease that was committed before.
    perform from flow.process l
    where l.process_id = p_process and l.ended_at is null and l.stopped_at is null and l.lease_until <= clock_timestamp()
    for update skip locked;
    if found then
        select * into v_held from flow.count_company(p_process);
        update flow.process p
        set ended_at = clock_timestamp(), lost_suspects = v_held.p_suspects, lost_others = v_held.p_others
        where p.process_id = p_process;
    end if;
    return exists (select from flow.process p
                   where p.process_id = p_process and (p.ended_at is not null or p.stopped_at is not null));
end $$;
