-- What a charge was made for, a reservation that can be repeated and that is charged when it expires, and columns for what
-- gateways will report. All are null, or have a constant default: no row is written.

alter table charges
    -- The gateway's id of the request, or the one that it was answered. Not unique: the ids are in `idempotency_records`.
    add column request_id text,
    -- The end client's address, if the gateway sent it.
    add column ip text,
    -- The price by which the amount was computed.
    add column price_id bigint,
    -- Parts of `prompt_tokens`: read from the provider's cache, and written to it.
    add column cached_tokens bigint,
    add column cache_write_tokens bigint,
    -- A part of `completion_tokens`.
    add column reasoning_tokens bigint,
    add constraint charges_request_id_length check (char_length(request_id) between 1 and 128) not valid,
    add constraint charges_parts_not_negative
        check (cached_tokens >= 0 and cache_write_tokens >= 0 and reasoning_tokens >= 0) not valid;

alter table reservations
    -- As in `charges`, for the charge that the reservation becomes.
    add column request_id text,
    add column ip text,
    -- Whether the job that expires it charges its hold, instead of giving it back. If it did, the reservation is settled with
    -- `was_expired`, and no gateway can settle it any more.
    add column charge_on_expiry boolean not null default false,
    add constraint reservations_request_id_length check (char_length(request_id) between 1 and 128) not valid;

alter table idempotency_records
    -- Of a reserve: the reservation that it made. `charged` is 0 then.
    add column reservation_id bigint;
