-- Notify other programs of what calls of program p_origin have brought about: queues that got due work, runs that ended, and workers that
-- hold work which was ended.
-- To be called in a transaction of its own, after those calls have committed. Its commit does not wait for the disk; a lost notification is
-- made up for by the next poll.
create or replace function flow.tell_others(p_queues integer[], p_runs uuid[], p_workers bigint[], p_origin text)
returns void language plpgsql as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    perform flow.notify_ids('flow_queue', p_queues::text[], p_origin);
    perform flow.notify_ids('flow_run', p_runs::text[], p_origin);
    perform flow.notify_ids('flow_worker', p_workers::text[], p_origin);
end $$;
