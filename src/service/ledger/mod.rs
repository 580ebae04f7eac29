//! What gateways call: verify a key, charge it, reserve, extend, settle, release.
//!
//! Every operation that changes balances waits in one queue (`queue.rs`). A lane takes all that wait, opens one
//! transaction, locks the wallets and then the tokens, lets [`Balances`](crate::domain::ledger::Balances) decide in the
//! order of arrival, writes everything and commits, which lets go of the locks. Then it waits for the disk, one fsync
//! for all, and answers the callers. A batch that fails before it is committed answers 503 to all of it, and nothing of
//! it is kept (L4). The queue is bounded: what does not fit is refused (L8).
//!
//! One bad row harms only itself. Operations on a wallet that another transaction has locked for too long are left out,
//! tried again in batches of their own, and refused after eight seconds. A batch that fails because of what may be one
//! row is committed in halves, until only the operations on that row fail.

mod batch;
mod begin_grace;
mod charge;
mod error;
mod expire;
mod extend;
mod forward_auth;
mod forward_auth_rates;
mod key_request;
mod lane;
mod lanes;
#[expect(clippy::module_inception, reason = "the type that all others extend")]
mod ledger;
mod locked;
mod operation;
mod parts;
mod provider_usage;
mod queue;
mod release;
mod request_id;
mod reserve;
mod rows;
mod settle;
mod verify;

pub use self::charge::Charged;
pub use self::error::LedgerError;
pub use self::extend::{ExtendRequest, Extended};
pub use self::key_request::QuotaRequest;
pub use self::lanes::LedgerRules;
pub use self::ledger::Ledger;
pub use self::parts::LedgerParts;
pub use self::provider_usage::{ProviderUsage, UsageInvalid};
pub use self::reserve::{ReserveOutcome, Reserved, Term};
pub use self::settle::Settled;
pub use self::verify::Verification;
