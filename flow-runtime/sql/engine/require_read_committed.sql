-- Raise WF022 unless the transaction is read committed: under another level a statement does not see what others have
-- committed since the transaction began, and the engine's functions rely on that after each lock that they take.
create or replace function flow.require_read_committed() returns void language plpgsql as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception 'this transaction is %, and flow needs read committed; begin it with "begin isolation level read committed"',
            current_setting('transaction_isolation') using errcode = 'WF022';
    end if;
end $$;
