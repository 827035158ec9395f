-- List what is wrong with the options p_own of a flow or step, a text for each mistake. p_effective are the values that apply, own or
-- inherited.
create or replace function flow.option_errors(p_who text, p_own jsonb, p_effective jsonb)
returns text[] language sql immutable as $$
    select array(
        select format('%s: %s is %s; it must be a whole number from %s to %s', p_who, o.name, p_own -> o.name, o.lowest, o.highest)
        from flow.list_options() o
        where p_own ? o.name
          and not case when jsonb_typeof(p_own -> o.name) = 'number'
                       then (p_own ->> o.name)::numeric between o.lowest and o.highest
                            and (p_own ->> o.name)::numeric = trunc((p_own ->> o.name)::numeric)
                       else false end
        union all
        select format('%s: max_delay is %s ms, which is below its base_delay of %s ms', p_who,
                      p_effective ->> 'max_delay_ms', p_effective ->> 'base_delay_ms')
        where jsonb_typeof(p_effective -> 'max_delay_ms') = 'number'
          and jsonb_typeof(p_effective -> 'base_delay_ms') = 'number'
          and (p_own ? 'max_delay_ms' or p_own ? 'base_delay_ms')
          and (p_effective ->> 'max_delay_ms')::numeric < (p_effective ->> 'base_delay_ms')::numeric
    )
$$;
