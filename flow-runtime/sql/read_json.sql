-- Read one JSON text that may be impossible to store. Returns the value, or the reason without the value.
create or replace function flow.read_json(p_text text, out p_value jsonb, out p_error text) language plpgsql as $$
begin
    p_value := p_text::jsonb;
exception when data_exception or program_limit_exceeded then
    p_error := sqlerrm;
end $$;
