-- Fail the run of a piece of work that cannot be handed to any worker, because its values do not fit into one reply. The run's error lists
-- the values with their sizes as stored. Changes nothing when somebody else has locked the run.
-- The caller holds the lock of the work's message or suspect row.
create or replace function flow.fail_unclaimable(
    p_self flow.worker_state, p_message flow.delivery, p_cause text, p_now timestamptz
) returns void language plpgsql as $$
declare
    v_step record;
    v_sizes text;
begin
    select r.run_id, s.step_index, s.slug, s.needs into v_step
    from (
        select l.run_id, l.flow_id from flow.run l
        where l.run_id = p_message.run_id and l.status = 'started' for no key update skip locked
    ) r
    join flow.step s on s.flow_id = r.flow_id and s.step_index = p_message.step_index;
    if not found then
        return;
    end if;
    select string_agg(format('%s %s bytes', v.name, v.bytes), ', ' order by v.place) into v_sizes
    from (
        select -1 as place, 'input' as name, pg_column_size(r.input) as bytes from flow.run r where r.run_id = v_step.run_id
        union all
        select ss.step_index, format('output of "%s"', s.slug), pg_column_size(ss.output)
        from flow.step_state ss
        join flow.step s on s.flow_id = ss.flow_id and s.step_index = ss.step_index
        where ss.run_id = v_step.run_id and ss.step_index = any (v_step.needs) and ss.output is not null
    ) v;
    -- The notifications go out with this transaction, which ends a run and hands nothing out: this happens only once for each run that
    -- cannot be handed to anybody, so their cost at the commit does not count.
    perform flow.tell(flow.fail_run(v_step.run_id, v_step.step_index, format(
        'the values that step "%s" takes cannot be put into one reply: %s; as stored they have: %s; the limit is 1 GB of text '
        'together', v_step.slug, p_cause, v_sizes), p_now));
end $$;
