#[path = "it/harness/mod.rs"] mod harness;
#[path = "it/wire.rs"] mod wire;
#[path = "it/walk.rs"] mod walk;
#[path = "it/cli.rs"] mod cli;
#[path = "it/embedded.rs"] mod embedded;
#[path = "it/outage.rs"] mod outage;
#[path = "it/hygiene_log.rs"] mod hygiene_log;
#[path = "it/migrations.rs"] mod migrations;
