-- Create a private queue of a flow, with the delivery that the setting `delivery` names: the registry row, and for pgmq also PGMQ's tables.
-- Raises WF007 when the name is registered, or when PGMQ has a queue of that name, in whatever spelling, that no flow owns; such a queue is
-- never adopted.
create or replace function flow.create_queue(p_name text, p_flow_id integer) returns void language plpgsql as $$
declare
    v_owner text;
    v_delivery text;
    v_message_ids regclass;
begin
    select coalesce('flow "' || f.slug || '"', 'no flow: it is shared') into v_owner
    from flow.queue q left join flow.flow f on f.flow_id = q.flow_id where q.name = p_name;
    if found then
        raise exception 'queue "%" belongs to %; give this flow another slug', p_name, v_owner using errcode = 'WF007';
    end if;
    select s.value #>> '{}' into v_delivery from flow.setting s where s.name = 'delivery';
    if v_delivery = 'pgmq' then
        v_message_ids := flow.pgmq_create(p_name);
    end if;
    insert into flow.queue (name, ownership, flow_id, delivery, message_ids)
    values (p_name, 'private', p_flow_id, v_delivery, v_message_ids);
end $$;
