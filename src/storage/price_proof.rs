//! The proof of L10: what charges cost, computed once more from their counts and from their prices as the database has
//! them.
//!
//! [`Rates`](crate::domain::prices::rates::Rates) takes parts out of their wholes. Here every count has a weight, its
//! own rate less the weights of its wholes, and a cost is the sum of counts times weights.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;

use super::price_content::{PriceContent, RateContent};
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::decimal::Decimal;
use crate::domain::id::TokenId;
use crate::domain::time::Day;

/// A charge that violates L10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceViolation {
    pub charge_id: i64,
    pub token_id: TokenId,
    /// Its quota and shortfall.
    pub recorded: i64,
    /// What it costs by its price, in quota units; `None` if the price is gone.
    pub by_price: Option<i64>,
}

/// What one more of a unit costs, for requests with more than `above` input tokens and no more than `upto`.
#[derive(Default)]
struct Weights {
    price: Vec<i64>,
    above: Vec<i64>,
    upto: Vec<Option<i64>>,
    unit: Vec<String>,
    /// What is billed at least, if any was used.
    least: Vec<i64>,
    /// In units of quota times [`Weights::denominator`].
    weight: Vec<String>,
}

impl Weights {
    /// Every number of units that a rate is for divides it.
    const COMMON_PER: i128 = 3_600_000_000_000;

    /// What weights are multiplied by to be whole: ratios are in billionths, and rates have 18 decimals.
    fn denominator() -> BigInt {
        BigInt::from(10).pow(9 + 18) * BigInt::from(Self::COMMON_PER)
    }

    /// Adds those of a price; nothing if it cannot be read.
    fn add(&mut self, price: i64, content: &str) {
        let Some(mut content) = PriceContent::read(content) else {
            return;
        };
        // Wholes before their parts, which are parts of all that their whole is a part of.
        content.rates.sort_by_key(|rate| std::cmp::Reverse(rate.parts.len()));
        let starts: BTreeSet<i64> =
            content.rates.iter().flat_map(|rate| &rate.tiers).map(|(start, _)| *start).collect();
        let from: Vec<i64> = std::iter::once(-1).chain(starts).collect();
        for (at, above) in from.iter().enumerate() {
            let mut weights: BTreeMap<&str, BigInt> = BTreeMap::new();
            for RateContent { unit, per, rate, tiers, .. } in &content.rates {
                let tier = tiers.iter().rev().find(|(start, _)| start <= above);
                let text = tier.map_or(rate, |(_, rate)| rate);
                let Ok(Decimal { value: attos, is_exact: true }) = Decimal::read(text, 18) else {
                    return;
                };
                let own = BigInt::from(attos) * BigInt::from(Self::COMMON_PER / i128::from(*per).max(1));
                let is_whole = |whole: &&RateContent| whole.parts.contains(unit);
                let wholes = content.rates.iter().filter(is_whole).filter_map(|whole| weights.get(whole.unit.as_str()));
                weights.insert(unit, own - wholes.sum::<BigInt>());
            }
            for (unit, weight) in weights {
                let least = content.minimum.as_ref().filter(|(of, _)| of == unit);
                self.price.push(price);
                self.above.push(*above);
                self.upto.push(from.get(at + 1).copied());
                self.unit.push(unit.to_owned());
                self.least.push(least.map_or(0, |(_, count)| *count));
                let in_quota = weight * BigInt::from(content.ratio) * BigInt::from(bounds::QUOTA_PER_USD);
                self.weight.push(in_quota.to_string());
            }
        }
    }
}

/// L10: charges since about `since`, of tokens with ids in `from..=to`, that are not what their price says, at most a
/// hundred.
pub async fn list_price_violations(
    conn: &mut Conn,
    from: i64,
    to: i64,
    since: Day,
) -> Result<Vec<PriceViolation>, StorageError> {
    let used = sqlx::query!(
        "select id, content from prices where id in (select distinct price_id from charges \
           where token_id >= $1 and token_id <= $2 and at >= extract(epoch from $3::date - 2)::bigint)",
        from,
        to,
        since as Day
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut weights = Weights::default();
    let ids: Vec<_> = used.iter().map(|price| price.id).collect();
    for price in used {
        weights.add(price.id, &price.content);
    }
    let rows = sqlx::query!(
        r#"with weights as materialized (
             select price, above, upto, array_agg(unit) as units, array_agg(least) as leasts, array_agg(weight) as weights
             from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::text[]::numeric[])
               as w (price, above, upto, unit, least, weight)
             group by price, above, upto)
           select id as "id!", token_id as "token_id!: TokenId", recorded as "recorded!",
             case when by_price is not null then least(by_price, 9223372036854775807)::bigint end as by_price
           from (select c.id, c.token_id, c.quota + c.shortfall as recorded,
               (select div(sum(weight * case when count > 0 then greatest(count, least) else 0 end) + $9::text::numeric - 1,
                  $9::text::numeric)
                from unnest(w.units, w.leasts, w.weights) as u (unit, least, weight)
                cross join lateral (select case unit when 'input_tokens' then c.prompt_tokens
                  when 'output_tokens' then c.completion_tokens when 'cache_read_tokens' then c.cached_tokens
                  when 'cache_write_tokens' then c.cache_write_tokens when 'requests' then 1
                  else (c.units->>unit)::numeric end as count) v) as by_price
             from charges c left join weights w on w.price = c.price_id and c.prompt_tokens > w.above
               and (w.upto is null or c.prompt_tokens <= w.upto)
             where c.token_id >= $1 and c.token_id <= $2 and c.at >= extract(epoch from $10::date - 2)::bigint
               -- A price that was first used after the statement before is not known here.
               and (c.price_id = any($11) or not exists (select from prices p where p.id = c.price_id))
               and c.price_id is not null) priced
           where by_price is distinct from recorded limit 100"#,
        from,
        to,
        &weights.price,
        &weights.above,
        &weights.upto as &[Option<i64>],
        &weights.unit,
        &weights.least,
        &weights.weight,
        Weights::denominator().to_string(),
        since as Day,
        &ids
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| PriceViolation {
            charge_id: row.id,
            token_id: row.token_id,
            recorded: row.recorded,
            by_price: row.by_price,
        })
        .collect())
}
