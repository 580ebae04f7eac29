//! Checks of the named constraints of tables: each refuses invalid rows, and none is left untested.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, PgPool, Row};

/// A constraint, and statements that only this constraint refuses.
pub type Break = (&'static str, &'static [&'static str]);

/// Asserts that each statement is refused by its constraint.
pub async fn assert_each_refused(pool: &PgPool, breaks: &[Break]) {
    for (name, statements) in breaks {
        for statement in *statements {
            let error = sqlx::query(*statement).execute(pool).await.expect_err(statement);
            let constraint = error.as_database_error().and_then(|error| error.constraint().map(str::to_owned));
            assert_eq!(constraint.as_deref(), Some(*name), "{statement}: {error}");
        }
    }
}

/// Asserts that `breaks` has every constraint and unique index of the tables, and no other.
pub async fn assert_all_tested(pool: &PgPool, tables: &[&str], breaks: &[Break]) {
    let tables = tables.iter().map(|table| format!("'{table}'")).collect::<Vec<_>>().join(", ");
    let known = sqlx::query(AssertSqlSafe(format!(
        "select conname::text from pg_constraint \
         where conrelid::regclass::text in ({tables}) and contype in ('c', 'f', 'p', 'u', 'x') \
         union select indexrelid::regclass::text from pg_index \
         where indisunique and indrelid::regclass::text in ({tables})"
    )))
    .fetch_all(pool)
    .await
    .unwrap();
    let known: BTreeSet<String> = known.iter().map(|row| row.get(0)).collect();
    let tested: BTreeSet<String> = breaks.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(tested, known);
}
