-- Read a text as JSON that may be impossible to store. Returns the value, or the reason as a text that does not quote the value.
create or replace function flow.read_json(p_text text, out p_value jsonb, out p_error text) language plpgsql as $$
begin
    p_value := p_text::jsonb;
exception when data_exception or program_limit_exceeded then
    p_error := case sqlstate
        when '22P05' then 'it holds the character U+0000'
        when '22P02' then 'it is no JSON'
        when '22003' then 'it holds a number with more digits than PostgreSQL can hold'
        when '54001' then 'it is nested too deeply'
        else lower(left(sqlerrm, 1)) || substr(sqlerrm, 2) end;
end $$;
