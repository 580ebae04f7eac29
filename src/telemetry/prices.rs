//! Whether the servers charge by the same prices.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The price lists in force.
#[derive(Debug, Clone, Default)]
pub struct PriceMetrics {
    lists: Gauge,
    refused: Gauge,
}

impl PriceMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let help = "Different price lists that the servers of this database have now; more than 1 for minutes means that they \
                    charge differently";
        registry.register("price_lists", help, metrics.lists.clone());
        let help = "1 if the prices in the settings file cannot be used, and those before them stay in force";
        registry.register("price_list_refused", help, metrics.refused.clone());
        metrics
    }

    /// Servers have this many lists.
    pub fn counted(&self, lists: usize) {
        self.lists.set(i64::try_from(lists).unwrap_or(i64::MAX));
    }

    /// Whether the newest list is refused.
    pub fn read(&self, refused: bool) {
        self.refused.set(refused.into());
    }
}
