-- Raise WF022 unless the transaction is read committed. At a higher level a statement does not see what others committed since the
-- transaction began; but the engine's functions read, after each lock that they take, what its last holder has committed.
create or replace function flow.require_read_committed() returns void language plpgsql as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'this transaction is %, and flow needs read committed; begin it with "begin isolation level read committed"',
            current_setting('transaction_isolation') using errcode = 'WF022';
    end if;
end $$;
