//! The table `prices`.

use std::collections::BTreeMap;

use super::price_content::{PriceContent, RateContent};
use super::{Conn, StorageError};
use crate::domain::group::Ratio;
use crate::domain::id::PriceId;
use crate::domain::prices::count::UnitCount;
use crate::domain::prices::rate::{RateTier, TieredRate, UnitRate};
use crate::domain::time::UnixTime;

/// The ids of prices by their contents, in any order. What was never used gets a row.
pub async fn find_or_add(
    conn: &mut Conn,
    contents: &[String],
    now: UnixTime,
) -> Result<Vec<(String, PriceId)>, StorageError> {
    let found = list(conn, contents).await?;
    let is_new = |content: &&String| !found.iter().any(|(known, _)| known == *content);
    let new: Vec<String> = contents.iter().filter(is_new).cloned().collect();
    if new.is_empty() {
        return Ok(found);
    }
    // In order, so that two transactions that add the same prices do not wait for each other.
    sqlx::query!(
        "insert into prices (content, first_used_at) select content, $2 from unnest($1::text[]) as v (content) \
         order by content on conflict on constraint prices_content_unique do nothing",
        &new,
        now as UnixTime
    )
    .execute(&mut *conn)
    .await?;
    list(conn, contents).await
}

async fn list(conn: &mut Conn, contents: &[String]) -> Result<Vec<(String, PriceId)>, StorageError> {
    let rows = sqlx::query!(r#"select content, id as "id: PriceId" from prices where content = any($1)"#, contents)
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.content, row.id)).collect())
}

/// A price as it was when it was first used.
#[derive(Debug)]
pub struct StoredPrice {
    /// By the names of their units.
    pub rates: BTreeMap<String, TieredRate>,
    /// The least that is billed of a unit, if any of it was used.
    pub minimum: Option<(String, UnitCount)>,
    pub ratio: Ratio,
}

/// The price with this id; none if it cannot be read.
pub async fn find(conn: &mut Conn, id: PriceId) -> Result<Option<StoredPrice>, StorageError> {
    let content = sqlx::query_scalar!("select content from prices where id = $1", id as PriceId);
    let content = content.fetch_optional(conn).await?;
    Ok(content.and_then(|content| stored_price(PriceContent::read(&content)?)))
}

fn stored_price(PriceContent { rates, ratio, minimum }: PriceContent) -> Option<StoredPrice> {
    let tier = |(start, rate): (i64, String)| Some(RateTier { start, rate: UnitRate::read(&rate).ok()? });
    let of_unit = |RateContent { unit, rate, tiers, .. }: RateContent| {
        let tiers = tiers.into_iter().map(tier).collect::<Option<Vec<_>>>()?;
        Some((unit, TieredRate { base: UnitRate::read(&rate).ok()?, tiers }))
    };
    Some(StoredPrice {
        rates: rates.into_iter().map(of_unit).collect::<Option<_>>()?,
        minimum: minimum.map(|(unit, least)| (unit, UnitCount::whole(least))),
        ratio: Ratio::new(ratio).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_read_as_every_version_wrote_it() {
        let written = r#"{"rates":[{"unit":"cache_read_tokens","per":1000000,"rate":"0.3"},
            {"unit":"input_tokens","per":1000000,"rate":"3","tiers":[[1000,"6"]],"parts":["cache_read_tokens"]}],
            "minimum":["input_tokens",5],"ratio":500000000}"#;
        let former = r#"{"prompt":3000000000,"completion":0,"cached":300000000,"cache_write":0,"request":0,
            "above":{"prompt_tokens":1000,"prompt":6000000000,"completion":0,"cached":300000000,"cache_write":0},
            "ratio":500000000}"#;
        for content in [written, former] {
            let price = stored_price(PriceContent::read(content).unwrap()).unwrap();
            let input = &price.rates["input_tokens"];
            assert_eq!(input.to_string(), "3, above 1000 input tokens 6", "{content}");
            assert_eq!(price.rates["cache_read_tokens"].base.to_string(), "0.3", "{content}");
            assert_eq!(price.ratio.to_string(), "0.5", "{content}");
        }
        let price = stored_price(PriceContent::read(written).unwrap()).unwrap();
        assert_eq!(price.minimum, Some(("input_tokens".to_owned(), UnitCount::whole(5))));
        assert!(PriceContent::read("{}").is_none());
    }
}
