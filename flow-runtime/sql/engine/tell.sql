-- Notify whoever waits for the progress of a call: workers of queues that got due work, programs that wait for ended runs, and workers that
-- hold work which was ended.
-- For calls of people and triggers, whose own transaction must carry the notifications because nobody sends them later. A program that uses
-- flow-runtime gets the ids with the reply instead and calls flow.tell_others after the commit; see docs/decisions/0012.
create or replace function flow.tell(p_progress flow.progress) returns void language plpgsql as $$
begin
    perform flow.notify_ids('flow_queue', array(select distinct q::text from unnest(p_progress.queues) q));
    perform flow.notify_ids('flow_run', p_progress.ended_runs::text[]);
    perform flow.notify_ids('flow_worker', array(select distinct w::text from unnest(p_progress.workers) w));
end $$;
