-- List the queue of each step of a shape, in step order: the flow's own queue, the step's private queue, or the queue to which the step is
-- routed. The name is null where no form of a private queue's name fits into 47 characters.
create or replace function flow.list_queues(p_shape jsonb)
returns table (step_index integer, queue text) language sql immutable as $$
    select (s.ord - 1)::integer,
           case p_shape ->> 'queue_mode'
               when 'plain' then lower((p_shape ->> 'slug') collate "C")
               when 'step_queues' then
                   flow.step_queue_name(p_shape ->> 'slug', s.step ->> 'slug', (s.ord - 1)::integer)
               else s.step ->> 'queue'
           end
    from jsonb_array_elements(p_shape -> 'steps') with ordinality s(step, ord)
$$;
