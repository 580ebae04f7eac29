//! Sign-in, sign-out and registration.

use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use http::HeaderMap;
use http::request::Parts;
use secrecy::SecretString;
use serde::Deserialize;
use tower_sessions::Session;
use utoipa::ToSchema;

use super::auth::{NotForeign, end_session, may_end_session, start_session};
use super::envelope::{Done, Envelope};
use super::extract::{Json, MAX_STRANGERS_BODY, exposed, origin};
use super::member_names::{CheckedJson, MemberNames};
use super::same_site::{self, Cookies};
use super::state::AppState;
use super::users::UserBody;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    CrossSiteRequest, HttpsRequired, InvalidEmail, InvalidPassword, InvalidUsername, MissingField, RateLimited,
    RegistrationClosed, SignInBusy, UserDisabled, WrongCredentials,
};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::caller::Origin;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::text;
use crate::domain::username::{Username, UsernameConflict};
use crate::service::sign_in::SignInError;

/// A username and a password.
#[derive(Deserialize, ToSchema)]
pub struct LoginBody {
    /// The username.
    #[schema(required)]
    username: Option<String>,
    /// The password.
    #[schema(required, value_type = String)]
    password: Option<SecretString>,
}

/// A new account for yourself.
#[derive(Deserialize, ToSchema)]
pub struct RegisterBody {
    /// 1 to 50 characters without white space: letters and digits of one script, and ASCII signs.
    #[schema(required)]
    username: Option<String>,
    /// 8 to 128 characters.
    #[schema(required, value_type = String)]
    password: Option<SecretString>,
    /// Optional.
    email: Option<String>,
}

impl MemberNames for RegisterBody {
    /// Clients of this family send it beside the password.
    const NOT_READ: &'static str = "password2";
}

/// A caller whose address may try to sign in; counts the attempt. Comes before the body, which is then not read in
/// vain.
pub struct MaySignIn(Origin);

impl FromRequestParts<Arc<AppState>> for MaySignIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let origin = origin(parts, app);
        app.sign_in.may_sign_in(&origin)?;
        Ok(Self(origin))
    }
}

/// A caller whose address may register, if the operator allows it; counts the attempt. Comes before the body too.
pub struct MayRegister(Origin);

impl FromRequestParts<Arc<AppState>> for MayRegister {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let origin = origin(parts, app);
        app.sign_in.may_register(&origin)?;
        Ok(Self(origin))
    }
}

/// Why nobody is signed in.
type SignInErrors = (CrossSiteRequest, HttpsRequired, WrongCredentials, UserDisabled, RateLimited, SignInBusy);

/// Sign in. The response sets the cookie `session`. Pages of other sites cannot call this.
#[utoipa::path(post, path = "/api/user/login", operation_id = "login", tag = "accounts", request_body = LoginBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn sign_in(
    State(app): State<Arc<AppState>>,
    _: NotForeign,
    MaySignIn(origin): MaySignIn,
    session: Session,
    headers: HeaderMap,
    Json(body): Json<LoginBody, MAX_STRANGERS_BODY>,
) -> Result<Envelope<UserBody>, Fails<SignInErrors>> {
    if app.settings.cookies == Cookies::ForHttpsAlone && same_site::is_plain_http(&headers) {
        let message = "the session cookie is for HTTPS alone, and this page was opened over plain HTTP, so the browser would not \
                       keep it: open it over https, or set KEYMETER_HTTP__SECURE_COOKIES=never";
        return Err(ApiError::new(ErrorCode::HttpsRequired, message).into());
    }
    let username = Username::typed(body.username.as_deref().unwrap_or_default()).ok();
    let password = TypedPassword::new(exposed(body.password.as_ref()));
    // Many sign-ins may wait for their password check.
    drop(body);
    let (user, proof) = app.sign_in.sign_in(username.as_ref(), &password, &origin).await?;
    start_session(&session, &app, user.id, &origin, &headers).await?;
    if let Err(changed) = app.sign_in.confirm(user.id, &proof).await {
        end_session(&session).await?;
        return Err(changed.into());
    }
    Ok(Envelope::of(UserBody::new(user, &app)))
}

/// Sign out. With a session the request must come from this site, or have `New-Api-User`.
#[utoipa::path(get, path = "/api/user/logout", operation_id = "logout", tag = "accounts",
    responses((status = 200, body = Done)))]
pub async fn sign_out(
    State(app): State<Arc<AppState>>,
    _: NotForeign,
    session: Session,
    parts: Parts,
) -> Result<Done, Fails<CrossSiteRequest>> {
    may_end_session(&session, &parts, &app).await?;
    end_session(&session).await?;
    Ok(Done::default())
}

/// Sign out. With a session the request must come from this site, or have `New-Api-User`.
#[utoipa::path(post, path = "/api/user/logout", operation_id = "logout_by_post", tag = "accounts",
    responses((status = 200, body = Done)))]
pub async fn sign_out_by_post(
    app: State<Arc<AppState>>,
    not_foreign: NotForeign,
    session: Session,
    parts: Parts,
) -> Result<Done, Fails<CrossSiteRequest>> {
    sign_out(app, not_foreign, session, parts).await
}

/// Why no account was created.
type RegisterErrors = (
    (InvalidUsername, InvalidPassword, InvalidEmail, MissingField),
    (CrossSiteRequest, RegistrationClosed, UsernameConflict, RateLimited, SignInBusy),
);

/// Create an account for yourself, if the operator allows it.
#[utoipa::path(post, path = "/api/user/register", operation_id = "register", tag = "accounts",
    request_body = RegisterBody, responses((status = 200, body = Done)))]
pub async fn register(
    State(app): State<Arc<AppState>>,
    _: NotForeign,
    MayRegister(origin): MayRegister,
    CheckedJson(body): CheckedJson<RegisterBody, MAX_STRANGERS_BODY>,
) -> Result<Done, Fails<RegisterErrors>> {
    let username = Username::parse(body.username.as_deref().unwrap_or_default())?;
    let password = NewPassword::parse(exposed(body.password.as_ref()))?;
    let email = text::email(body.email.as_deref().unwrap_or_default())?;
    app.sign_in.register(&username, &password, &email, &origin).await?;
    Ok(Done::default())
}

codes_of! {
    SignInError {
        WrongCredentials => WrongCredentials,
        Disabled => UserDisabled,
        RegistrationClosed => RegistrationClosed,
        Busy(_) => SignInBusy,
        .. UsernameConflict, RateLimited, Storage
    }
}
