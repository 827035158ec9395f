-- List the JSON paths at which two values differ, the outermost ones only: "/properties/total/type".
create or replace function flow.json_differences(p_old jsonb, p_new jsonb, p_path text default '')
returns text[] language plpgsql immutable as $$
begin
    if p_old is not distinct from p_new then
        return '{}';
    elsif jsonb_typeof(p_old) = 'object' and jsonb_typeof(p_new) = 'object' then
        return array(
            select d.path
            from (select jsonb_object_keys(p_old) union select jsonb_object_keys(p_new)) k(key)
            cross join lateral unnest(flow.json_differences(p_old -> k.key, p_new -> k.key, p_path || '/' || k.key)) d(path)
            order by d.path);
    end if;
    return array[case when p_path = '' then '/' else p_path end];
end $$;
