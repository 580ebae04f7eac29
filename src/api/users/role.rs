//! Roles in the document.

use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::domain::user::Role;

/// The number of a [`Role`], with the names of all for generated clients.
pub(super) struct RoleCode;

impl PartialSchema for RoleCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .description(Some("1 user, 10 administrator, 100 root."))
            .enum_values(Some(Role::ALL.map(Role::code)))
            .extensions(Some(ExtensionsBuilder::new().add("x-enum-varnames", Role::ALL.map(Role::as_str)).build()))
            .into()
    }
}

impl ToSchema for RoleCode {
    fn name() -> std::borrow::Cow<'static, str> {
        "Role".into()
    }
}
