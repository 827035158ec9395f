-- Return the first runs of p_runs, in their order, that have at most p_most rows together; at least the first run, however many rows it
-- has.
create or replace function flow.fit_runs(p_runs uuid[], p_most integer) returns uuid[] language plpgsql stable as $$
declare
    v_rows bigint := 0;
begin
    for i in 1 .. cardinality(p_runs) loop
        v_rows := v_rows + flow.count_rows(p_runs[i], p_most + 1);
        if v_rows > p_most then
            return p_runs[1:greatest(i - 1, 1)];
        end if;
    end loop;
    return p_runs;
end $$;
