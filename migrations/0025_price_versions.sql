-- Price lists that administrators set, each a version. While there is none, the prices of the settings are in force.

create table price_versions (
    -- One more than that of the version before. The highest is in force.
    number bigint constraint price_versions_pkey primary key,
    created_time bigint not null,
    -- The administrator who set it.
    created_by bigint not null,
    note text not null,
    -- One's own prices, and the names of the providers whose models count, as JSON.
    file text not null,
    -- The prices of providers as others publish them, as JSON.
    data text not null,
    constraint price_versions_number_positive check (number > 0),
    constraint price_versions_note_length check (char_length(note) <= 2000)
);

-- Prices by units have a rate for each of them.
alter table prices
    drop constraint prices_content_length,
    add constraint prices_content_length check (char_length(content) between 1 and 2600) not valid;
