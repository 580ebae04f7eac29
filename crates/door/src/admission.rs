//! Whether a request is let through: what it may cost is held first.

use std::sync::Arc;

use keymeter_meter::request::read_request;

use crate::door::Door;
use crate::refusals::DoorRefusal;
use crate::request_head::RequestHead;
use crate::reserved_request::ReservedRequest;
use crate::settlements::Place;

/// A request that is let through.
#[derive(Debug)]
pub enum LetThrough {
    /// Nobody bills it. It has its place until its answer is read.
    Free(Place),
    Reserved(Box<ReservedRequest>),
}

/// Lets a request through, or says why not. `body` is `None` where the method has none.
///
/// # Errors
/// See [`DoorRefusal`].
pub async fn admit(door: &Arc<Door>, head: &RequestHead, body: Option<&[u8]>) -> Result<LetThrough, DoorRefusal> {
    let (route, bearer, settings) = (head.route, &head.bearer, &door.options.meter);
    let Some(extractors) = door.extractors.newest() else {
        door.verify(bearer, None).await?;
        return Err(DoorRefusal::unavailable("Keymeter has not told yet how answers are read"));
    };
    let metered = match body {
        Some(body) => Some(read_request(route, body, route.extractor(settings, &extractors), settings)?),
        None => None,
    };
    let place = door.settlements.begin(&bearer.key)?;
    match metered {
        Some(metered) if !route.is_free() => {
            let reserved = ReservedRequest::reserve(door, bearer, (metered, extractors), place).await?;
            Ok(LetThrough::Reserved(Box::new(reserved)))
        }
        free => {
            door.verify(bearer, free.as_ref().map(|free| free.model.as_str())).await?;
            Ok(LetThrough::Free(place))
        }
    }
}
