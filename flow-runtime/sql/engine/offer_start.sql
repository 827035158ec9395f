-- Say what a start may hand out of the work that it begins, to a worker of the program that makes the call: up to p_slots pieces under
-- number p_batch of the worker. The offer names the flow's first steps that the worker serves and that begin at once. There is no offer
-- where a first step has a condition or another step's condition may fail the run, since a run could then end at once.
-- p_self is the worker, null where a result of it would not count: its process or the worker is gone, or its program is too old.
-- There is no offer either while somebody checks whether the process is to be ended, when the worker may not claim, and when a suspect
-- keeps the process closed. The lock of the process is shared and only tried. The worker and the suspects are read by later statements,
-- which see who ended the process, or claimed a suspect that must be alone, before the lock was taken.
create or replace function flow.offer_start(
    p_process bigint, p_worker bigint, p_batch bigint, p_slots integer, p_flow_id integer,
    out p_self flow.worker_state, out p_offer flow.offer
) language plpgsql as $$
declare
    v_steps integer[];
begin
    if not pg_try_advisory_xact_lock_shared(p_process) then
        return;
    end if;
    p_self := flow.worker_state(p_worker);
    if p_self.process_id is distinct from p_process or p_self.flow_id <> p_flow_id
       or p_self.state in ('process_ended', 'worker_gone', 'upgrade_needed') then
        p_self := null;
        return;
    end if;
    if p_self.state <> 'ok'
       or exists (select from flow.suspect s where s.suspect_limit = 0 offset 0) and flow.is_closed(p_process) then
        return;
    end if;
    select array_agg(s.step_index order by s.step_index) filter (
               where s.over_step is null and s.start_delay_ms = 0 and s.queue_id = p_self.queue_id
                 and s.step_index = any (p_self.steps))
    into v_steps
    from flow.step s where s.flow_id = p_flow_id and s.dependencies = '{}'
    having bool_and(s.starts_at_once);
    if v_steps is not null then
        p_offer := row(p_worker, p_batch, p_self.queue_id, p_flow_id, v_steps, p_slots, '{}', null)::flow.offer;
    end if;
end $$;
