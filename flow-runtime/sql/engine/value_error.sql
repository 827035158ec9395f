-- Say what is wrong with a value that the engine is to store, given as text and as jsonb; nulls when nothing is wrong. p_code is WF006
-- (more than p_limit bytes) or WF008 (a number that no reader could take).
-- The bytes are counted as PostgreSQL writes the value, whatever text it came as, because that text is what goes out: 1e308 is written with
-- 309 digits.
-- Only values for which flow.is_doubtful is true need this test.
create or replace function flow.value_error(
    p_text text, p_value jsonb, p_limit bigint, out p_code text, out p_error text
) language plpgsql immutable as $$
declare
    v_bytes bigint;
begin
    if jsonb_path_exists(p_value, 'strict $.** ? (@ > 1.7976931348623158e308 || @ < -1.7976931348623158e308
                                                  || (@ > -2e-324 && @ < 2e-324 && @ != 0))') then
        p_code := 'WF008';
        p_error := 'holds a number beyond the range of a 64-bit float (5e-324 to 1.8e308); pass it as a string';
        return;
    end if;
    begin
        v_bytes := octet_length(p_value::text);
    exception when program_limit_exceeded then
        v_bytes := greatest(octet_length(p_text), 1 << 30);
    end;
    if v_bytes > p_limit then
        p_code := 'WF006';
        p_error := format('has %s bytes, more than the limit of %s; store it elsewhere and pass a reference, or raise the '
                          'setting max_value_bytes', v_bytes, p_limit);
    end if;
end $$;
