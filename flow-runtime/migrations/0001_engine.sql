-- The tables of the engine. Hot tables (run, step_state, task) carry no foreign keys and no index on a column that ever
-- changes, so that every update a claim or a settlement makes is HOT; see docs/decisions/0003.
-- A fill factor below 100 leaves room for such updates. Tables whose rows come and go all the time are vacuumed early, before dead rows
-- outnumber living ones, and keep their pages (vacuum_truncate): giving them back takes a lock that keeps everybody out, and they are
-- needed again a moment later.
-- Names and keys have collation "C": what is upper case, equal or next must not depend on the database's locale.

create type flow.run_status as enum ('started', 'completed', 'failed', 'cancelled');
create type flow.step_status as enum ('created', 'started', 'completed', 'failed', 'skipped', 'cancelled');
create type flow.task_status as enum ('queued', 'started', 'completed', 'failed', 'skipped', 'cancelled');
create type flow.step_kind as enum ('single', 'map');
create type flow.mode as enum ('skip', 'skip_cascade', 'fail');
create type flow.skip_reason as enum ('condition_unmet', 'dependency_skipped', 'handler_failed');
create type flow.attempt_cause as enum ('error', 'permanent', 'timeout', 'panic', 'lease_expired');

create table flow.setting (
    name text primary key,
    value jsonb not null
);

insert into flow.setting (name, value) values
    ('environment', '"production"'),
    ('delivery', '"rows"'),
    ('max_value_bytes', '16777216'),
    ('max_aggregate_bytes', '134217728'),
    ('retention', '"off"'),
    ('interface', '1'),
    ('oldest_interface', '1');

create table flow.flow (
    flow_id integer generated always as identity primary key,
    slug text collate "C" not null,
    slug_key text collate "C" generated always as (lower(slug collate "C")) stored,
    queue_mode text not null,
    step_count integer not null,
    is_plain boolean not null, -- its steps are all single, and no condition can forbid one
    options jsonb not null, -- as sent last; the steps have those that apply
    notes jsonb not null,
    build jsonb, -- of the program that applied its options last: {"version": …, "built_at": …}
    created_at timestamptz not null default now(),
    deployed_at timestamptz not null default now(),
    deprecated_at timestamptz,
    deleted_at timestamptz, -- when its deletion began, which may take several calls; nobody starts or deploys it meanwhile
    drifted_at timestamptz, -- when types changed under the unchanged shape
    constraint flow_slug_once_ignoring_case unique (slug_key),
    constraint flow_queue_mode_known check (queue_mode in ('plain', 'step_queues', 'routed'))
);

create table flow.queue (
    queue_id integer generated always as identity primary key,
    name text collate "C" not null,
    ownership text not null,
    flow_id integer references flow.flow,
    delivery text not null, -- where its messages are: in flow.message, or in tables of PGMQ's
    on_remove text not null default 'delete',
    message_ids regclass, -- the sequence that numbers its messages, of pgmq delivery
    paused_at timestamptz,
    paused_by text,
    paused_why text,
    created_at timestamptz not null default now(),
    constraint queue_name_once unique (name),
    constraint queue_name_canonical check (name = lower(name collate "C")),
    constraint queue_private_has_an_owner check ((ownership = 'private') = (flow_id is not null)),
    constraint queue_ownership_known check (ownership in ('private', 'shared')),
    constraint queue_delivery_known check (delivery in ('rows', 'pgmq')),
    constraint queue_of_pgmq_numbers_its_messages check ((delivery = 'pgmq') = (message_ids is not null)),
    constraint queue_on_remove_known check (on_remove = 'delete' or on_remove = 'archive' and delivery = 'pgmq')
);
create index queue_of_flow on flow.queue (flow_id);

create table flow.step (
    flow_id integer not null references flow.flow,
    step_index integer not null,
    slug text collate "C" not null,
    kind flow.step_kind not null,
    over_step integer, -- -1 is the run's input
    needs integer[] not null,
    after integer[] not null,
    dependencies integer[] not null, -- needs, after and over_step in one
    dependents integer[] not null, -- the steps that have this one among their dependencies
    feeds_map boolean not null, -- a map runs over this step
    run_if jsonb,
    run_unless jsonb,
    when_unmet flow.mode, -- null without a condition
    starts_at_once boolean not null, -- when its last dependency ends: no condition, here or in the flow, can forbid it
    when_exhausted flow.mode not null,
    queue_id integer not null references flow.queue,
    priority smallint not null default 5, -- 1 comes first
    -- Options have the names and defaults of flow.list_options, and are written by flow.write_options.
    max_attempts integer not null default 3,
    base_delay_ms bigint not null default 1000,
    max_delay_ms bigint not null default 300000,
    timeout_ms bigint not null default 60000,
    start_delay_ms bigint not null default 0,
    primary key (flow_id, step_index),
    -- Not (flow_id, slug): the planner would take that index for look-ups by flow and step, and walk the whole flow.
    constraint step_slug_once unique (slug, flow_id),
    constraint step_map_has_a_source check ((kind = 'map') = (over_step is not null)),
    constraint step_unmet_only_with_a_condition
        check ((when_unmet is not null) = (run_if is not null or run_unless is not null))
);

create table flow.contract (
    flow_id integer not null references flow.flow,
    step_index integer not null, -- -1 is the run's input
    schema jsonb not null,
    hash text not null,
    changed_at timestamptz not null default now(),
    primary key (flow_id, step_index)
);

create table flow.run (
    run_id uuid primary key,
    flow_id integer not null,
    remaining_steps integer not null,
    status flow.run_status not null default 'started',
    started_at timestamptz not null,
    due_at timestamptz not null default now(), -- nothing of the run is claimable before
    ended_at timestamptz,
    error_step integer,
    error text,
    retry_of uuid,
    output jsonb,
    input jsonb not null,
    constraint run_ended_when_terminal check ((status = 'started') = (ended_at is null)),
    constraint run_remaining_not_negative check (remaining_steps >= 0)
) with (fillfactor = 50, autovacuum_analyze_threshold = 5000, autovacuum_vacuum_scale_factor = 0.05);

create unique index run_retried_once on flow.run (retry_of) where retry_of is not null;
-- The runs of a flow from the oldest on, for whoever removes or counts them. Its columns never change, so updates stay HOT.
create index run_of_flow on flow.run (flow_id, started_at, run_id);

-- A run that has so much that it is removed by several calls: how far that is. Nobody retries the run any more.
create table flow.removal (
    run_id uuid primary key,
    has_errors boolean not null default true, -- its history is removed first
    step_index integer not null default -1, -- everything before this place is removed, of the history, then of the tasks
    task_index integer not null default -1
);

-- A walk of flow.prune over the runs of all flows that did not end with one call, and behind which run it goes on.
create table flow.pruning (
    pruning_id bigint generated always as identity primary key,
    before timestamptz not null, -- what ended before is removed
    began_at timestamptz not null,
    called_at timestamptz not null,
    in_parts uuid, -- a run that is not removed whole yet
    flow_id integer not null,
    started_at timestamptz not null,
    run_id uuid not null
);

-- From where on a flow has runs, as far as a walk of flow.prune has seen: so none walks over what is removed and not vacuumed yet.
create table flow.oldest_run (
    flow_id integer primary key,
    started_at timestamptz not null,
    looked_at timestamptz not null -- when a walk began at the very beginning; it does so once a day
);

create table flow.run_key (
    flow_id integer not null,
    key text collate "C" not null,
    run_id uuid not null,
    primary key (flow_id, key)
);
create index run_key_of_run on flow.run_key (run_id);

-- A step of a run. Of a single step it is the work too, from queued_at to is_exhausted; a map's work is its tasks. Work that waits has
-- a message and no worker; what a worker holds has no message, and its worker and batch are the fence of whatever is said about it.
-- Its place in its queue's order, priority and age, stays the same for life.
create table flow.step_state (
    run_id uuid not null,
    step_index integer not null,
    flow_id integer not null,
    age timestamptz not null, -- when its run was due
    remaining_deps integer not null,
    remaining_tasks integer,
    task_count integer,
    uncreated_tasks integer not null default 0, -- of a large map, whose elements wait in flow.piece; see docs/architecture.md
    taken_from uuid, -- the run that this one retries, when the tasks of a large map that it completed count here too
    status flow.step_status not null default 'created',
    skip_reason flow.skip_reason,
    started_at timestamptz,
    ended_at timestamptz,
    queued_at timestamptz,
    queue_id integer,
    priority smallint,
    message_id bigint, -- in a queue of pgmq delivery
    attempt integer not null default 0,
    worker_id bigint,
    batch bigint, -- the number that the worker gave to the exchange which claimed it
    claimed_at timestamptz,
    timeout_ms bigint, -- as it was at the claim
    is_exhausted boolean not null default false, -- handed over without an attempt, only to be given up
    error text,
    output jsonb,
    primary key (run_id, step_index),
    constraint step_state_reason_exactly_when_skipped check ((status = 'skipped') = (skip_reason is not null)),
    constraint step_state_ended_when_terminal check ((status in ('created', 'started')) = (ended_at is null)),
    constraint step_state_counts_not_negative check (remaining_deps >= 0 and remaining_tasks >= 0),
    constraint step_state_claimed_by_a_worker check (
        (worker_id is null) = (claimed_at is null) and (worker_id is null) = (batch is null))
) with (fillfactor = 28, autovacuum_analyze_threshold = 5000, autovacuum_vacuum_scale_factor = 0.05);

-- One element of a map.
create table flow.task (
    run_id uuid not null,
    step_index integer not null,
    task_index integer not null,
    flow_id integer not null,
    queue_id integer not null,
    priority smallint not null,
    age timestamptz not null,
    attempt integer not null default 0,
    message_id bigint,
    queued_at timestamptz not null,
    status flow.task_status not null default 'queued',
    worker_id bigint,
    batch bigint,
    claimed_at timestamptz,
    timeout_ms bigint,
    is_exhausted boolean not null default false,
    ended_at timestamptz,
    item jsonb,
    output jsonb,
    primary key (run_id, step_index, task_index),
    constraint task_ended_when_terminal check ((status in ('queued', 'started')) = (ended_at is null)),
    constraint task_claimed_by_a_worker check (
        (worker_id is null) = (claimed_at is null) and (worker_id is null) = (batch is null)),
    constraint task_started_by_a_worker check (
        case status when 'queued' then worker_id is null when 'started' then worker_id is not null else true end)
) with (fillfactor = 50, autovacuum_analyze_threshold = 5000, autovacuum_vacuum_scale_factor = 0.05);

-- A thousand elements of a map of more than ten thousand. Until their tasks are created the elements are here; from then on their piece
-- says how many of the tasks are live, so that whoever ends them finds them without looking at all that have ended.
create table flow.piece (
    run_id uuid not null,
    step_index integer not null,
    piece_index integer not null,
    live_tasks integer not null,
    items jsonb, -- null when their tasks are there
    primary key (run_id, step_index, piece_index)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 5000);

-- What waits and is due, in the order of claiming. A row is written once and removed once, and never updated: so its pages are full.
create table flow.message (
    queue_id integer not null,
    priority smallint not null,
    age timestamptz not null,
    run_id uuid not null,
    step_index integer not null,
    task_index integer not null, -- -1 is a single step
    primary key (queue_id, priority, age, run_id, step_index, task_index)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 5000,
        vacuum_truncate = off);

-- What waits and is not due yet. Whoever reads the queue moves it to flow.message in time. Its rows live as those of flow.message do.
create table flow.delayed (
    run_id uuid not null,
    step_index integer not null,
    task_index integer not null,
    queue_id integer not null,
    priority smallint not null,
    age timestamptz not null,
    due_at timestamptz not null,
    primary key (run_id, step_index, task_index)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 5000,
        vacuum_truncate = off);
create index delayed_due on flow.delayed (queue_id, due_at);

-- Large values spend most of a step's time being compressed, and lz4 is many times faster. A server that was built without it
-- keeps its default.
do $$ begin
    alter table flow.run alter column input set compression lz4, alter column output set compression lz4;
    alter table flow.step_state alter column output set compression lz4;
    alter table flow.piece alter column items set compression lz4;
    alter table flow.task alter column item set compression lz4, alter column output set compression lz4;
exception when feature_not_supported then
    raise notice 'this server has no lz4; large values are compressed with its default';
end $$;

-- What is known of each claim that did not succeed. One that was lost with its process also tells what was lost with it.
create table flow.attempt_error (
    run_id uuid not null,
    step_index integer not null,
    task_index integer not null,
    worker_id bigint not null,
    batch bigint not null,
    attempt integer not null,
    cause flow.attempt_cause not null,
    error text not null,
    at timestamptz not null,
    used_attempt boolean not null default true, -- false when it was lost in company, so that nobody knows whose fault it was
    process_id bigint, -- of the process that was lost with it
    company integer, -- how many other pieces of work that process held
    suspect_limit integer, -- what it got as a suspect
    primary key (run_id, step_index, task_index, worker_id, batch)
);

-- A program with workers. What its workers hold is theirs as long as its lease lasts; only its heartbeat and whoever ends it change
-- the row, on its own page, a few times a minute; all heartbeats read all that is dead, so it is removed early. Its id, and those of its workers, are random numbers that it chooses itself, so that no failover makes two of one.
create table flow.process (
    process_id bigint primary key,
    name text not null,
    lease_ms bigint not null,
    lease_until timestamptz not null,
    started_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz, -- its lease was over, and somebody has given its work back
    lost_suspects integer, -- how many suspects it held then
    lost_others integer, -- and how much other work
    stopped_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, vacuum_truncate = off);
create index process_living on flow.process (process_id) where ended_at is null and stopped_at is null;
create index process_by_age on flow.process (started_at);

create table flow.worker (
    worker_id bigint primary key,
    process_id bigint not null,
    name text not null,
    flow_id integer not null,
    queue_id integer not null,
    steps integer[] not null, -- the steps it serves
    input_steps integer[] not null, -- those of them whose handlers take the run's input
    interface integer not null,
    started_at timestamptz not null default clock_timestamp(),
    draining_at timestamptz,
    stopped_at timestamptz
) with (fillfactor = 50);
create index worker_of_process on flow.worker (process_id);
create index worker_of_flow on flow.worker (flow_id) where stopped_at is null;
create index worker_of_queue on flow.worker (queue_id) where stopped_at is null;
create index worker_by_age on flow.worker (started_at);

-- What a batch handed to its worker, a place in the arrays each; batches tells the batch of each place, since rows are folded. It may
-- list too much, never too little: a place counts only where the work still has this worker and batch as its fence. A row is written
-- and removed by exchanges, and updated only when a recovery could not take all of it; every heartbeat reads the whole table.
create table flow.hand (
    worker_id bigint not null,
    batch bigint not null,
    is_exchange boolean not null,
    runs uuid[] not null,
    steps integer[] not null,
    tasks integer[] not null,
    batches bigint[] not null,
    primary key (worker_id, batch)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 5000,
        vacuum_truncate = off);
alter table flow.hand alter runs set storage main, alter steps set storage main, alter tasks set storage main,
    alter batches set storage main;

-- Work that was lost together with other work, so that it may have killed its process: waiting, or held by a process. It has no message.
-- A row goes with the first settlement of its work. Exchanges probe the indexes, so what is dead in them is removed early and whatever
-- the size of the table; each change of a holder moves a row in an index, so room on its page would save nothing.
create table flow.suspect (
    run_id uuid not null,
    step_index integer not null,
    task_index integer not null, -- -1 is a single step
    queue_id integer not null,
    queued_at timestamptz not null, -- of the work: the oldest is the first to be claimed
    suspect_limit integer not null, -- how many suspects a process may hold while it holds this one; 0: nothing else at all
    process_id bigint, -- who holds it
    worker_id bigint,
    batch bigint,
    primary key (run_id, step_index, task_index),
    constraint suspect_limit_not_negative check (suspect_limit >= 0),
    constraint suspect_held_by_a_worker check (
        (process_id is null) = (worker_id is null) and (process_id is null) = (batch is null))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_analyze_threshold = 5000,
        vacuum_truncate = off);
create index suspect_waiting on flow.suspect (queue_id, queued_at, run_id, step_index, task_index) where process_id is null;
create index suspect_held on flow.suspect (process_id) where process_id is not null;
create index suspect_alone on flow.suspect (queue_id) where suspect_limit = 0;

create table flow.worker_name (
    name text primary key,
    disabled_at timestamptz,
    disabled_by text,
    disabled_why text
);

-- How the functions of the engine hand things on. A task index of -1 is a single step, a step index of -1 the run's input.

create type flow.step_ref as (
    run_id uuid,
    step_index integer,
    flow_id integer
);

-- One piece of work as a worker gets it.
create type flow.claim as (
    run_id uuid,
    step_index integer,
    task_index integer,
    attempt integer,
    item jsonb,
    timeout_ms bigint,
    is_exhausted boolean
);

-- What a call has brought about so far, for who goes on from it and for who is to be told.
create type flow.progress as (
    ended_steps uuid[], -- the run of each step that ended, once for each step, to be counted down in the run
    ended_runs uuid[],
    queues integer[], -- that got work which is due
    workers bigint[], -- that hold work which was ended
    handed flow.claim[] -- what was begun in the hands of the calling worker
);

-- A place in the order of a queue.
create type flow.mark as (
    priority smallint,
    age timestamptz,
    run_id uuid,
    step_index integer,
    task_index integer
);

-- What an exchange may hand out of the work that its own results make ready, without a message: whose, under which number, of which
-- steps, and how much at most; not of the runs that are barred, because something else may become of them in the same exchange.
create type flow.offer as (
    worker_id bigint,
    batch bigint,
    queue_id integer,
    flow_id integer,
    steps integer[],
    slots integer,
    barred uuid[],
    head flow.mark -- what waits first in the queue: only what comes before it is handed out
);

-- Why a run ends before its time; without a step and text when it is cancelled.
create type flow.cause as (
    run_id uuid,
    step_index integer,
    error text
);

-- A step that has just started, with how many pieces of work it gets, where and when; source is what a map runs over, null in
-- a single step. An empty map has task_count 0 and is completed already.
create type flow.started_step as (
    run_id uuid,
    step_index integer,
    flow_id integer,
    task_count integer,
    queue_id integer,
    priority smallint,
    age timestamptz,
    message_id bigint,
    due_at timestamptz,
    source integer
);

-- A message: whose work it announces, and where it lies: in the order of flow.message, in a queue of pgmq delivery under a number.
create type flow.delivery as (
    queue_id integer,
    priority smallint,
    age timestamptz,
    run_id uuid,
    step_index integer,
    task_index integer,
    message_id bigint,
    row_id tid -- where it was read and locked
);

-- The row of one piece of work, locked.
create type flow.work as (
    run_id uuid,
    step_index integer,
    task_index integer,
    flow_id integer,
    row_id tid,
    status flow.task_status,
    queue_id integer,
    attempt integer,
    worker_id bigint,
    batch bigint,
    claimed_at timestamptz,
    timeout_ms bigint,
    is_exhausted boolean
);

-- What a claim sees at one message, with the row of its work, if that could be locked, and what is to be done:
-- queued | exhausted (claimed), ended (its message is removed), busy (it stays), corrupt | misrouted (refused).
create type flow.message_class as (
    delivery flow.delivery,
    run_id uuid,
    step_index integer,
    task_index integer,
    row_id tid,
    attempt integer,
    item jsonb,
    timeout_ms bigint,
    kind text
);

-- How one attempt ended, as its worker says.
create type flow.result as (
    ord bigint,
    run_id uuid,
    step_index integer,
    task_index integer,
    batch bigint,
    outcome text,
    output jsonb,
    error text,
    delay_ms bigint,
    is_repeat boolean -- an earlier one is for the same work and batch
);

-- One attempt that failed, with the row of its work and what follows: it is retried after a wait, or `mode` says what becomes of
-- its step.
create type flow.failure as (
    ord bigint,
    run_id uuid,
    step_index integer,
    task_index integer,
    flow_id integer,
    row_id tid,
    queue_id integer,
    worker_id bigint,
    batch bigint,
    attempt integer,
    cause flow.attempt_cause,
    error text,
    is_recorded boolean, -- its attempt was recorded before
    is_retried boolean,
    wait_ms bigint,
    max_attempts integer,
    mode flow.mode
);

-- A worker with its queue, as the functions that it calls look it up.
create type flow.worker_state as (
    worker_id bigint,
    process_id bigint,
    flow_id integer,
    queue_id integer,
    queue text,
    message_ids regclass,
    steps integer[],
    input_steps integer[],
    is_plain boolean, -- its flow
    max_value_bytes bigint,
    state text,
    reason text
);
