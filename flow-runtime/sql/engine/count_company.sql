-- Count what the workers of a process hold: suspects and other work.
create or replace function flow.count_company(p_process bigint, out p_suspects integer, out p_others integer) language plpgsql as $$
begin
    select coalesce(sum(h.p_suspects), 0), coalesce(sum(h.p_others), 0) into p_suspects, p_others
    from flow.worker w
    cross join lateral flow.count_held(w.worker_id) h
    where w.process_id = p_process and w.stopped_at is null;
end $$;
