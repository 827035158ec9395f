-- Start one run of the flow with this slug and return the run's id; the form of flow.start_runs for plain SQL and triggers. Raises what
-- flow.start_runs does, and WF006 also when the input cannot be written as text.
create or replace function flow.start_run(
    slug text, input jsonb, run_id uuid default null, key text default null, start_at timestamptz default null
) returns uuid language plpgsql as $$
declare
    v_text text;
begin
    begin
        v_text := input::text;
    exception when program_limit_exceeded then
        raise exception 'the input is larger than PostgreSQL can write as text; does it hold numbers such as 1e131071?'
            using errcode = 'WF006';
    end;
    return (flow.start_runs(slug, array[v_text], array[run_id], array[key], array[start_at]))[1];
end $$;
