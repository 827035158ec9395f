-- Collect the values that claimed work needs, each value once although several claims may need it: the run's input (as step -1) for steps
-- of this worker that take it, and the outputs of completed dependencies.
create or replace function flow.shared_values(
    p_self flow.worker_state, p_claims flow.claim[],
    out p_runs uuid[], out p_steps integer[], out p_values text[]
) language plpgsql as $$
declare
    v_claim flow.claim;
    v_needs integer[];
    v_input text;
begin
    if p_claims is null then
        return;
    end if;
    if cardinality(p_claims) = 1 then
        v_claim := p_claims[1];
        select s.needs into v_needs from flow.step s
        where s.flow_id = p_self.flow_id and s.step_index = v_claim.step_index;
        if cardinality(v_needs) > 0 then
            select array_agg(v_claim.run_id), array_agg(n.step_index), array_agg(o.output::text) into p_runs, p_steps, p_values
            from unnest(v_needs) n(step_index)
            cross join lateral (
                select ss.output from flow.step_state ss
                where ss.run_id = v_claim.run_id and ss.step_index = n.step_index and ss.status = 'completed' offset 0
            ) o;
        end if;
        if v_claim.step_index = any (p_self.input_steps) then
            select r.input::text into v_input from flow.run r where r.run_id = v_claim.run_id;
            p_runs := p_runs || v_claim.run_id;
            p_steps := p_steps || -1;
            p_values := p_values || v_input;
        end if;
        return;
    end if;
    select array_agg(v.run_id), array_agg(v.step_index), array_agg(v.value)
    into p_runs, p_steps, p_values
    from (
        select u.run_id, -1 as step_index, r.input::text as value
        from (select distinct c.run_id from unnest(p_claims) c
              where c.step_index = any (p_self.input_steps)) u
        cross join lateral (select r.input from flow.run r where r.run_id = u.run_id offset 0) r
        union all
        select u.run_id, u.step_index, o.output::text
        from (
            select distinct c.run_id, n.step_index
            from unnest(p_claims) c
            cross join lateral (
                select s.needs from flow.step s
                where s.flow_id = p_self.flow_id and s.step_index = c.step_index offset 0
            ) s
            cross join lateral unnest(s.needs) n(step_index)
        ) u
        cross join lateral (
            select ss.output from flow.step_state ss
            where ss.run_id = u.run_id and ss.step_index = u.step_index and ss.status = 'completed' offset 0
        ) o
    ) v;
end $$;
