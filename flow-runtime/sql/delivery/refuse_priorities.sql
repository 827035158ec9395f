-- Raise WF009, naming every such step, when a step of the flow has a priority other than the default and its queue is of pgmq delivery,
-- which has no priorities.
create or replace function flow.refuse_priorities(p_flow_id integer) returns void language plpgsql as $$
declare
    v_errors text[] := array(
        select format('step "%s": priority is %s, but its queue "%s" is of pgmq delivery, which has no priorities; leave the priority '
                      'out, or deploy the flow anew while the setting delivery is rows', s.slug, s.priority, q.name)
        from flow.step s join flow.queue q on q.queue_id = s.queue_id
        where s.flow_id = p_flow_id and s.priority <> 5 and q.delivery = 'pgmq'
        order by s.step_index);
begin
    if cardinality(v_errors) > 0 then
        raise exception 'the definition of flow "%" has % mistakes: %', (select f.slug from flow.flow f where f.flow_id = p_flow_id),
            cardinality(v_errors), array_to_string(v_errors, '; ') using errcode = 'WF009', detail = to_jsonb(v_errors)::text;
    end if;
end $$;
