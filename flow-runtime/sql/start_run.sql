-- Start one run of flow p_slug and return its id; the form for plain SQL and triggers. See flow.start_runs.
create or replace function flow.start_run(
    slug text, input jsonb, run_id uuid default null, key text default null, start_at timestamptz default null
) returns uuid language sql as $$
    select (flow.start_runs(slug, array[input::text], array[run_id], array[key], array[start_at]))[1]
$$;
