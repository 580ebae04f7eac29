//! Traces: the spans of requests, batches and jobs, sent to an OpenTelemetry collector as OTLP, protobuf over HTTP. A
//! span has what the lines of the log have: never a key, a cookie, a password or a body.
//!
//! At most 2,048 spans wait to be sent; more are dropped and counted in the log. No request waits for the collector.
//! The variables `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` send only some traces; `OTEL_RESOURCE_ATTRIBUTES`
//! tells servers apart. The header `traceparent` is not read: a stranger could have every request traced.

#[cfg(feature = "otlp")]
pub use sent::Traces;
#[cfg(not(feature = "otlp"))]
pub use unavailable::Traces;

#[cfg(feature = "otlp")]
mod sent {
    use std::time::Duration;

    use opentelemetry::KeyValue;
    use opentelemetry::trace::TracerProvider as _;
    use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
    use opentelemetry_sdk::Resource;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing::Subscriber;
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::registry::LookupSpan;

    /// A collector that does not answer delays the stop of the program by no more.
    const TIMEOUT: Duration = Duration::from_secs(3);

    /// Sends spans to a collector.
    #[derive(Debug)]
    pub struct Traces {
        provider: SdkTracerProvider,
    }

    impl Traces {
        /// Starts to send spans to this collector; none if it is empty. Not inside an asynchronous runtime.
        ///
        /// # Errors
        /// The address cannot be used.
        pub fn start(endpoint: &str) -> Result<Option<Self>, String> {
            if endpoint.is_empty() {
                return Ok(None);
            }
            // Without TLS the client is small. A collector runs beside the server, or an agent does.
            if !endpoint.starts_with("http://") {
                return Err("`log.otlp_endpoint` must begin with http://, such as \"http://127.0.0.1:4318\"".to_owned());
            }
            let exporter = SpanExporter::builder()
                .with_http()
                .with_protocol(Protocol::HttpBinary)
                .with_timeout(TIMEOUT)
                .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
                .build()
                .map_err(|error| format!("`log.otlp_endpoint` cannot be used: {error}"))?;
            let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
            let resource = Resource::builder().with_service_name("keymeter").with_attribute(version).build();
            let provider = SdkTracerProvider::builder().with_resource(resource).with_batch_exporter(exporter).build();
            Ok(Some(Self { provider }))
        }

        /// The layer of the log that sends spans. Those of libraries are left out.
        pub fn layer<S: Subscriber + for<'span> LookupSpan<'span>>(&self) -> impl Layer<S> + use<S> {
            let ours = filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("keymeter"));
            tracing_opentelemetry::layer()
                .with_tracer(self.provider.tracer("keymeter"))
                // A span is made when it ends: its name is known only then.
                .with_context_activation(false)
                .with_tracked_inactivity(false)
                .with_threads(false)
                .with_location(false)
                .with_filter(ours)
        }

        /// Sends what waits, for at most a few seconds.
        pub fn stop(self) {
            if let Err(error) = self.provider.shutdown_with_timeout(TIMEOUT) {
                tracing::warn!(%error, "the last spans were not sent");
            }
        }
    }
}

#[cfg(not(feature = "otlp"))]
mod unavailable {
    use std::convert::Infallible;

    use tracing_subscriber::layer::Identity;

    /// Never exists: this program was built without the feature `otlp`.
    #[derive(Debug)]
    pub struct Traces(Infallible);

    impl Traces {
        /// Refuses a collector.
        ///
        /// # Errors
        /// The address is not empty.
        pub fn start(endpoint: &str) -> Result<Option<Self>, String> {
            if endpoint.is_empty() {
                return Ok(None);
            }
            Err("`log.otlp_endpoint` needs a program that was built with `--features otlp`; this one was not"
                .to_owned())
        }

        /// No layer.
        pub const fn layer(&self) -> Identity {
            match self.0 {}
        }

        /// Nothing to stop.
        pub const fn stop(self) {
            match self.0 {}
        }
    }
}
