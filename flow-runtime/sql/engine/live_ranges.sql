-- Return the index ranges that contain all live tasks of a map: the whole map, or for a large map its pieces that have live tasks.
create or replace function flow.live_ranges(p_run uuid, p_step integer, p_task_count integer)
returns table (lowest integer, highest integer) language plpgsql stable as $$
begin
    if p_task_count <= flow.large_map() then
        return query select 0, p_task_count - 1;
    else
        return query
            select p.piece_index * flow.piece_size(), (p.piece_index + 1) * flow.piece_size() - 1 from flow.piece p
            where p.run_id = p_run and p.step_index = p_step and p.items is null and p.live_tasks > 0
            order by p.piece_index;
    end if;
end $$;
