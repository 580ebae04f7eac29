//! The metric of the jobs.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// When each job last succeeded.
#[derive(Debug, Clone, Default)]
pub struct JobMetrics(Family<JobLabels, Gauge>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct JobLabels {
    /// Not `job`: Prometheus has a label of that name.
    name: &'static str,
}

impl JobMetrics {
    /// Registers the metric, for these jobs.
    pub fn register(registry: &mut Registry, jobs: impl IntoIterator<Item = &'static str>) -> Self {
        let metrics = Self::default();
        registry.register_with_unit(
            "job_last_success_timestamp",
            "The Unix time at which a job last did all that there was to do; 0 until then",
            Unit::Seconds,
            metrics.0.clone(),
        );
        for name in jobs {
            drop(metrics.0.get_or_create(&JobLabels { name }));
        }
        metrics
    }

    /// When these jobs last succeeded, Unix time.
    pub fn list(&self, jobs: impl Iterator<Item = &'static str>) -> impl Iterator<Item = (&'static str, Option<i64>)> {
        jobs.map(|name| (name, self.0.get(&JobLabels { name }).map(|at| at.get()).filter(|at| *at > 0)))
    }

    /// A job did all that there was to do, at this Unix time.
    pub fn succeeded(&self, name: &'static str, now: i64) {
        self.0.get_or_create(&JobLabels { name }).set(now);
    }
}
