-- Cut the elements of large maps that have just begun into pieces, and create the tasks of the first pieces, as many as may be live. The
-- caller holds the runs' locks.
create or replace function flow.cut_maps(p_started flow.started_step[], p_now timestamptz) returns void language plpgsql as $$
begin
    insert into flow.piece (run_id, step_index, piece_index, live_tasks, items)
    select s.run_id, s.step_index, i.task_index / flow.piece_size(), count(*), jsonb_agg(i.item order by i.task_index)
    from unnest(p_started) s
    cross join lateral flow.step_items(s.run_id, s.source) i
    group by s.run_id, s.step_index, i.task_index / flow.piece_size();
    update flow.step_state ss set uncreated_tasks = ss.task_count
    from unnest(p_started) s
    where ss.run_id = s.run_id and ss.step_index = s.step_index;
    perform flow.create_tasks(array(select row(s.run_id, s.step_index, s.flow_id)::flow.step_ref from unnest(p_started) s),
                              flow.large_map() / flow.piece_size(), p_now);
end $$;
