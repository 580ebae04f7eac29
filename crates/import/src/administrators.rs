//! Accounts that manage others there: whether they do here, and that nobody can guess their password.

use super::findings::{Detail, Finding, FoundInRow};
use super::rows::ForeignUser;
use super::rules::MappedUser;
use keymeter::domain::password::{MAX_IMPORTED_BCRYPT_COST, bcrypt_cost};
use keymeter::domain::user::Role;
use keymeter::domain::username::Username;
use keymeter::service::passwords;

/// The lowest role there that manages others.
const ADMINISTRATOR: i64 = 10;

/// The passwords that new-api and one-api come with, and those that are guessed first.
const KNOWN_PASSWORDS: [&str; 8] =
    ["123456", "12345678", "123456789", "password", "admin", "admin123", "root", "root1234"];

/// An account as it is admitted.
pub struct AdmittedUser {
    pub mapped: MappedUser,
    /// Its password is not imported, and it gets a new one.
    pub needs_password: bool,
    pub found: Vec<FoundInRow>,
}

/// Decides about the role and the password of a new account. `lowers_roles` makes administrators ordinary users.
pub fn admit(user: &ForeignUser, mut mapped: MappedUser, username: &Username, lowers_roles: bool) -> AdmittedUser {
    let mut found = Vec::new();
    let mut needs_password = bcrypt_cost(&user.password).is_some_and(|cost| cost > MAX_IMPORTED_BCRYPT_COST);
    if mapped.role.is_admin() {
        let detail = Detail::Account { username: username.as_str().to_owned(), role: i64::from(mapped.role.code()) };
        if lowers_roles {
            mapped.role = Role::User;
            found.push(FoundInRow::new(Finding::AdministratorLowered, detail));
        } else {
            found.push(FoundInRow::new(Finding::AdministratorImported, detail));
        }
    }
    if user.role >= ADMINISTRATOR {
        let guesses = KNOWN_PASSWORDS.into_iter().chain([user.username.as_str()]);
        if passwords::is_bcrypt_of_one(&mapped.password_hash, guesses) {
            mapped.password_hash.clear();
            needs_password = true;
            found.push(FoundInRow::new(Finding::KnownPassword, Detail::text(username.as_str())));
        }
    }
    AdmittedUser { mapped, needs_password, found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::map_user;
    use keymeter::domain::time::UnixTime;

    /// Bcrypt of these passwords with the lowest cost, made with crypt(3).
    const HASHES: [(&str, &str); 4] = [
        ("123456", "FwMibPVIyV1/Vdxb3PVZCmM4bYxIada"),
        ("12345678", "fUlS0EEB.H3ewsjUNPrWW5qETJaYIty"),
        ("boss", "hwuiAbx.NxTpsKmzxyT3DrJpC2lOC1C"),
        ("correct horse", "jydOTSfIH/d5oUHpsygqV5X9xJLQc6e"),
    ];

    fn bcrypt(password: &str) -> String {
        let (_, hash) = HASHES.iter().find(|(of, _)| *of == password).unwrap();
        format!("$2a$04$abcdefghijklmnopqrstuu{hash}")
    }

    fn admitted(role: i64, password: &str, lowers_roles: bool) -> (Role, bool, bool, Vec<Finding>) {
        let user = ForeignUser {
            id: 1,
            username: "boss".into(),
            password: bcrypt(password),
            role,
            status: 1,
            ..ForeignUser::default()
        };
        let (mapped, _) = map_user(&user, UnixTime::new(1));
        let admitted = admit(&user, mapped, &Username::parse("boss-1").unwrap(), lowers_roles);
        let has_password = !admitted.mapped.password_hash.is_empty();
        let found = admitted.found.into_iter().map(|found| found.finding).collect();
        (admitted.mapped.role, has_password, admitted.needs_password, found)
    }

    #[test]
    fn every_administrator_is_told_and_lowered_if_wanted() {
        use Finding::{AdministratorImported, AdministratorLowered};
        let strong = "correct horse";
        assert_eq!(admitted(1, strong, true), (Role::User, true, false, vec![]));
        assert_eq!(admitted(10, strong, false), (Role::Admin, true, false, vec![AdministratorImported]));
        assert_eq!(admitted(100, strong, false), (Role::Root, true, false, vec![AdministratorImported]));
        assert_eq!(admitted(100, strong, true), (Role::User, true, false, vec![AdministratorLowered]));
        // It is an unknown role, and became a user.
        assert_eq!(admitted(50, strong, false), (Role::User, true, false, vec![]));
    }

    #[test]
    fn a_password_that_everyone_knows_is_not_imported_for_who_managed_others_there() {
        use Finding::{AdministratorImported, AdministratorLowered, KnownPassword};
        for known in ["123456", "12345678", "boss"] {
            assert_eq!(
                admitted(100, known, false),
                (Role::Root, false, true, vec![AdministratorImported, KnownPassword]),
                "{known}"
            );
        }
        assert_eq!(admitted(10, "123456", true), (Role::User, false, true, vec![AdministratorLowered, KnownPassword]));
        assert_eq!(admitted(50, "123456", true), (Role::User, false, true, vec![KnownPassword]));
        assert_eq!(admitted(1, "123456", true), (Role::User, true, false, vec![]), "theirs are not tried");
    }
}
