-- Tell who waits for what a call has brought about: workers of the queues, who waits for the runs, who holds work that was ended.
-- For calls that people and triggers make, whose transaction carries the notifications since nobody else would tell. A program of ours
-- gets what is to be told with the reply and calls flow.tell_others afterwards; see docs/decisions/0012.
create or replace function flow.tell(p_progress flow.progress) returns void language plpgsql as $$
begin
    perform flow.notify_ids('flow_queue', array(select distinct q::text from unnest(p_progress.queues) q));
    perform flow.notify_ids('flow_run', p_progress.ended_runs::text[]);
    perform flow.notify_ids('flow_worker', array(select distinct w::text from unnest(p_progress.workers) w));
end $$;
