-- List what the schema flow holds of the kinds that the engine relies on, one text an object: tables, views and types with their
-- columns, and functions with the types of their arguments.
-- Reads the catalog alone, so it needs no right on the objects. The texts do not depend on the search path.
with relation as (
    select c.oid, format('%s.%s', n.nspname, c.relname) as name,
           case c.relkind when 'v' then 'view' when 'm' then 'view' when 'c' then 'type' else 'table' end as kind
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'flow' and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
)
select format('%s %s', r.kind, r.name) as object from relation r
union all
select format('column %s.%s', r.name, a.attname)
from relation r
join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
union all
select format('type flow.%s', t.typname) from pg_type t
where t.typnamespace = to_regnamespace('flow') and t.typtype = 'e'
union all
select format('function %s.%s(%s)', n.nspname, p.proname, (
    select string_agg(
        case when e.typnamespace = 'pg_catalog'::regnamespace then format_type(e.oid, null)
             else format('%s.%s', e.typnamespace::regnamespace, e.typname) end
        || case when e.oid <> t.oid then '[]' else '' end, ', ' order by u.place)
    from unnest(p.proargtypes) with ordinality u(type, place)
    join pg_type t on t.oid = u.type
    join pg_type e on e.oid = case when t.typcategory = 'A' then t.typelem else t.oid end
))
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'flow'
