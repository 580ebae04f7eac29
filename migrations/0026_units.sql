-- What requests used in units that have no column of their own, and what reservations asked of prices.

alter table charges
    -- The units that have no column, as a JSON object of numbers.
    add column units jsonb,
    -- Why the hold was charged and not what the request cost; null if it was not so, and for charges of older versions.
    add column hold_reason text,
    -- SHA-256 of all that a settlement was computed from, if that was more than the counts that have columns.
    add column settled_digest bytea,
    add constraint charges_units_object check (jsonb_typeof(units) = 'object') not valid,
    add constraint charges_hold_reason_length check (char_length(hold_reason) between 1 and 32) not valid,
    add constraint charges_hold_reason_or_price check (hold_reason is null or price_id is null) not valid,
    add constraint charges_settled_digest_length check (octet_length(settled_digest) = 32) not valid;

alter table reservations
    -- What its settlement needs to find a price, as a JSON object; null if it was made with an amount alone.
    add column asked jsonb,
    add constraint reservations_asked_object check (jsonb_typeof(asked) = 'object') not valid;
