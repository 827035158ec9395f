-- Name the private queue of a step: lower(flow__step) when that has at most 47 characters, else lower(flow__index), else null: then the
-- flow cannot be deployed with step queues. flow-core has the same rule.
create or replace function flow.step_queue_name(p_flow text, p_step text, p_index integer)
returns text language sql immutable as $$
    select case
        when length(p_flow || '__' || p_step) <= 47 then lower((p_flow || '__' || p_step) collate "C")
        when length(p_flow || '__' || p_index) <= 47 then lower((p_flow || '__' || p_index) collate "C")
    end
$$;
