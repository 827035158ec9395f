-- Cancel a run as flow.cancel_run does, without sending notifications: the calling program passes p_tell_… to flow.tell_others.
create or replace function flow.cancel_run_quietly(
    p_run uuid, out p_status text, out p_tell_runs uuid[], out p_tell_workers bigint[]
) language plpgsql as $$
declare
    v_aborted record;
begin
    select * into v_aborted from flow.cancel_open_run(p_run);
    p_status := v_aborted.p_status;
    p_tell_runs := (v_aborted.p_progress).ended_runs;
    p_tell_workers := (v_aborted.p_progress).workers;
end $$;
