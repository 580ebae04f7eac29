//! Walks the constraints of tables: each refuses what it is there for, and none is forgotten.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, PgPool, Row};

/// A constraint, and statements that it alone refuses.
pub type Break = (&'static str, &'static [&'static str]);

/// Each statement is refused by the constraint it stands beside.
pub async fn each_is_refused(pool: &PgPool, breaks: &[Break]) {
    for (name, statements) in breaks {
        for statement in *statements {
            let error = sqlx::query(*statement).execute(pool).await.expect_err(statement);
            let refused = error.as_database_error().and_then(|answer| answer.constraint().map(str::to_owned));
            assert_eq!(refused.as_deref(), Some(*name), "{statement}: {error}");
        }
    }
}

/// Each constraint and unique index of the tables is tried, and nothing else.
pub async fn all_are_tried(pool: &PgPool, tables: &[&str], breaks: &[Break]) {
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
    let tried: BTreeSet<String> = breaks.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(tried, known);
}
