//! The layers of `ARCHITECTURE.md`, checked on the syntax tree: which modules and crates the code of each layer names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::harness::project::{files_below, project};

/// A part of the library or a crate beside it, the parts that it may use, and the crates that it may not use.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
    banned_crates: &'static [&'static str],
}

const LAYERS: [Layer; 7] = [
    Layer {
        name: "domain",
        may_use: &[],
        banned_crates: &["axum", "http", "quick_cache", "serde_json", "tokio", "tower", "tracing", "utoipa"],
    },
    Layer {
        name: "storage",
        may_use: &["domain", "telemetry"],
        banned_crates: &["argon2", "axum", "http", "quick_cache", "tower", "utoipa"],
    },
    Layer {
        name: "service",
        may_use: &["domain", "storage", "telemetry"],
        banned_crates: &["axum", "http", "sqlx", "tower", "tower_http", "tower_sessions", "utoipa"],
    },
    Layer {
        name: "api",
        may_use: &["domain", "service", "storage", "telemetry"],
        banned_crates: &["argon2", "quick_cache", "sqlx", "toml"],
    },
    Layer { name: "config", may_use: &["domain", "telemetry"], banned_crates: &["axum", "sqlx", "tokio"] },
    // Of tokio it uses the count of database calls that belongs to a task.
    Layer { name: "telemetry", may_use: &[], banned_crates: &["axum", "sqlx"] },
    // Puts the parts together. Nothing in the library uses it.
    Layer {
        name: "app",
        may_use: &["api", "config", "domain", "service", "storage", "telemetry", "version"],
        banned_crates: &["argon2", "quick_cache"],
    },
];

/// The crates beside the library, the parts of it that they may use, and the crates that they may not use.
const LEAVES: [Layer; 8] = [
    // Below the library.
    Layer { name: "connections", may_use: &[], banned_crates: &["keymeter", "sqlx"] },
    Layer { name: "meter", may_use: &[], banned_crates: &["axum", "keymeter", "sqlx", "tokio"] },
    Layer { name: "postgres", may_use: &[], banned_crates: &["keymeter", "axum"] },
    // Beside it: programs of their own that call it over HTTP.
    Layer { name: "door", may_use: &[], banned_crates: &["keymeter", "sqlx"] },
    Layer { name: "envoy", may_use: &[], banned_crates: &["keymeter", "sqlx"] },
    Layer { name: "front", may_use: &[], banned_crates: &["keymeter", "sqlx"] },
    // Reads the database of another service. What it writes here is in its `statements.rs`.
    Layer {
        name: "import",
        may_use: &["domain", "service", "storage"],
        banned_crates: &["argon2", "axum", "bcrypt", "clap", "http", "quick_cache", "tower", "utoipa"],
    },
    Layer {
        name: "cli",
        may_use: &["api", "app", "config", "domain", "service", "storage", "telemetry", "version"],
        banned_crates: &["argon2", "axum", "quick_cache", "sqlx"],
    },
];

/// Files of services that commit without the `Invalidator`: these transactions change nothing that servers cache. A
/// service that changes an account, a token or a credential commits through it.
const COMMIT_NOTHING_CACHED: [&str; 10] = [
    // What opens days; a repaired wallet is committed through the invalidator.
    "clock_repair.rs",
    "database_watch.rs",
    "invalidator.rs",
    "jobs/mod.rs",
    // A replay changes nothing.
    "old_keys.rs",
    "sessions.rs",
    "sign_in.rs",
    "sign_in_limits.rs",
    // A key that nobody knows yet.
    "tokens/bulk.rs",
    "users/operator.rs",
];

/// Files of the crates above the library that commit.
const COMMIT_ABOVE: [&str; 5] = [
    // Only when it ended.
    "cli/src/backup.rs",
    // Tokens get their keys encrypted again; no cache has those.
    "cli/src/master_key_rotation.rs",
    // Into an empty database.
    "cli/src/serve_demo.rs",
    // They announce what servers cache themselves.
    "import/src/requests.rs",
    "import/src/target.rs",
];

/// What `api` may use of `storage`: errors, the pool's health, and the session store. Never a query.
const API_MAY_USE_OF_STORAGE: [&str; 3] = ["Db", "StorageError", "sessions"];

/// What `domain` may use of sqlx: a newtype becomes a column by this derive.
const DOMAIN_MAY_USE_OF_SQLX: [&str; 1] = ["Type"];

#[test]
fn a_layer_uses_only_layers_below_it() {
    let mut wrong = Vec::new();
    for layer in LAYERS {
        for (file, paths) in paths_of(layer.name) {
            for path in paths {
                let segments: Vec<&str> = path.iter().map(String::as_str).collect();
                match segments[..] {
                    ["crate", used, ..] if used != layer.name && !layer.may_use.contains(&used) => {
                        wrong.push(format!("{}: {} uses {}", file.display(), layer.name, path.join("::")));
                    }
                    [used, ..] if layer.banned_crates.contains(&used) => {
                        wrong.push(format!("{}: {} uses the crate {used}", file.display(), layer.name));
                    }
                    ["sqlx", item, ..] if layer.name == "domain" && !DOMAIN_MAY_USE_OF_SQLX.contains(&item) => {
                        wrong.push(format!("{}: domain uses {}", file.display(), path.join("::")));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_crate_beside_the_library_uses_only_what_it_may() {
    let mut wrong = Vec::new();
    for leaf in LEAVES {
        let folder = project().join("crates").join(leaf.name).join("src");
        for (file, paths) in paths_below(&folder) {
            for path in paths {
                let segments: Vec<&str> = path.iter().map(String::as_str).collect();
                match segments[..] {
                    ["keymeter", used, ..] if leaf.may_use.contains(&used) => {}
                    ["keymeter", ..] => wrong.push(format!("{}: {}", file.display(), path.join("::"))),
                    [used, ..] if leaf.banned_crates.contains(&used) => {
                        wrong.push(format!("{}: the crate {used}", file.display()));
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn api_uses_no_queries_of_storage() {
    let mut wrong = Vec::new();
    for (file, paths) in paths_of("api") {
        for path in paths {
            let segments: Vec<&str> = path.iter().map(String::as_str).collect();
            if let ["crate", "storage", item, ..] = segments[..]
                && !API_MAY_USE_OF_STORAGE.contains(&item)
            {
                wrong.push(format!("{}: {}", file.display(), path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_service_that_changes_what_is_cached_commits_through_the_invalidator() {
    let committing = |folder: PathBuf| -> Vec<String> {
        let commits = ["storage", "commit"].map(str::to_owned);
        paths_below(&folder)
            .into_iter()
            .filter(|(_, paths)| paths.iter().any(|path| path.ends_with(&commits)))
            .map(|(file, _)| file.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(committing(src().join("service")), COMMIT_NOTHING_CACHED);
    assert_eq!(committing(project().join("crates")), COMMIT_ABOVE);
}

/// What a row of the other service becomes is decided without a database.
#[test]
fn the_rules_of_an_import_use_only_domain() {
    let mut wrong = Vec::new();
    for (file, paths) in paths_below(&project().join("crates/import/src")) {
        let rule =
            ["rules.rs", "names.rs", "findings.rs", "days.rs", "rows.rs"].iter().any(|name| file.ends_with(name));
        for path in paths.into_iter().filter(|_| rule) {
            let segments: Vec<&str> = path.iter().map(String::as_str).collect();
            let allowed = match segments[..] {
                ["keymeter", used, ..] => used == "domain",
                [used, ..] => !["sqlx", "tokio", "futures_util"].contains(&used),
                [] => true,
            };
            if !allowed {
                wrong.push(format!("{}: {}", file.display(), path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Services may use each other, in one direction.
#[test]
fn services_do_not_depend_on_each_other_in_a_circle() {
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, paths) in paths_of("service") {
        let service = module_of(&file).get(1).cloned().unwrap_or_default();
        let used = uses.entry(service.clone()).or_default();
        for path in paths {
            if let [root, layer, other, ..] = &path[..]
                && (root.as_str(), layer.as_str()) == ("crate", "service")
                && *other != service
            {
                used.insert(other.clone());
            }
        }
    }
    assert!(uses.len() > 10, "every service is examined: {uses:?}");
    let circle = circle(uses);
    assert!(circle.is_empty(), "these services use each other in a circle: {circle:?}");
}

/// Files may use each other, in one direction. Errors, rows and names that several files need have a file of their own.
/// A `mod.rs` and the files below it are one thing and may use each other.
#[test]
fn files_do_not_depend_on_each_other_in_a_circle() {
    let folders = ["src/service/ledger", "src/service/tokens", "src/storage/tokens"];
    let crates = LEAVES.map(|leaf| format!("crates/{}/src", leaf.name));
    for folder in folders.map(str::to_owned).into_iter().chain(crates) {
        let files = paths_below(&project().join(&folder));
        let modules: BTreeSet<Vec<String>> = files.iter().map(|(file, _)| module_of(file)).collect();
        let mut uses: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
        for (file, paths) in &files {
            let module = module_of(file);
            let used = paths.iter().filter_map(|path| {
                let path = path.strip_prefix(&["crate".to_owned()])?;
                (1..=path.len()).rev().find_map(|length| modules.get(&path[..length])).cloned()
            });
            let used = used.filter(|used| !used.starts_with(&module) && !module.starts_with(used)).collect();
            uses.insert(module, used);
        }
        assert!(uses.len() > 1, "every file of {folder} is examined: {uses:?}");
        let circle = circle(uses);
        assert!(circle.is_empty(), "these files use each other in a circle: {circle:?}");
    }
}

/// What remains after removing, again and again, what uses nothing that remains: circles, and what uses them.
fn circle<T: Ord + Clone>(mut uses: BTreeMap<T, BTreeSet<T>>) -> BTreeMap<T, BTreeSet<T>> {
    loop {
        let free: Vec<T> = uses
            .iter()
            .filter(|(_, used)| used.iter().all(|other| !uses.contains_key(other)))
            .map(|(one, _)| one.clone())
            .collect();
        if free.is_empty() {
            return uses;
        }
        for one in free {
            uses.remove(&one);
        }
    }
}

/// The macros that hold the columns of a table, and take the rest of the statement as one text.
const COLUMN_LISTS: [&str; 3] = ["select_requests", "select_tokens", "select_users"];

/// A statement is text that can be pasted into psql.
#[test]
fn statements_are_assembled_only_after_a_list_of_columns() {
    let mut assembled = BTreeSet::new();
    for file in files_below(&src(), ".rs").into_iter().chain(files_below(&project().join("crates"), ".rs")) {
        let code: TokenStream = fs::read_to_string(&file).unwrap().parse().unwrap();
        add_assembled(code, &file.display().to_string(), &mut assembled);
    }
    assert_eq!(assembled, COLUMN_LISTS.map(str::to_owned).into());
}

/// Adds the macros, or else `place`, in which texts are joined by `+` in a macro of sqlx.
fn add_assembled(code: TokenStream, place: &str, assembled: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let ident =
        |at: usize| tokens.get(at).filter(|token| matches!(token, TokenTree::Ident(_))).map(ToString::to_string);
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        // `query!(…)`, or `macro_rules! name {…}`.
        let name = at.checked_sub(2).and_then(ident);
        if name.as_deref().is_some_and(|name| name.starts_with("query")) && joins_texts(group.stream()) {
            assembled.insert(place.to_owned());
        }
        let rules = at.checked_sub(3).and_then(ident).filter(|word| word == "macro_rules");
        let inner = rules.and_then(|_| ident(at - 1)).unwrap_or_else(|| place.to_owned());
        add_assembled(group.stream(), &inner, assembled);
    }
}

fn joins_texts(code: TokenStream) -> bool {
    let tokens: Vec<String> = code.into_iter().map(|token| token.to_string()).collect();
    let is_text = |token: &String| token.starts_with(['"', 'r']) && token.ends_with(['"', '#']);
    tokens.windows(2).any(|pair| pair[0] == "+" && is_text(&pair[1]) || pair[1] == "+" && is_text(&pair[0]))
}

/// One word for one thing: a reader who searches for a type finds one.
#[test]
fn no_two_public_types_share_a_name() {
    let mut declared: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for file in files_below(&src(), ".rs").into_iter().chain(files_below(&project().join("crates"), ".rs")) {
        let mut types = PublicTypes(Vec::new());
        types.visit_file(&syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap());
        for name in types.0 {
            declared.entry(name).or_default().insert(file.clone());
        }
    }
    assert!(declared.len() > 500, "every file is examined: {}", declared.len());
    declared.retain(|name, files| files.len() > 1 && !SHARED_NAMES.contains(&name.as_str()));
    assert!(declared.is_empty(), "these types share a name: {declared:#?}");
}

/// Names of public types that may be declared twice, and why.
const SHARED_NAMES: [&str; 0] = [];

struct PublicTypes(Vec<String>);

impl PublicTypes {
    fn add(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if !matches!(visibility, syn::Visibility::Inherited) {
            self.0.push(name.to_string());
        }
    }
}

impl Visit<'_> for PublicTypes {
    fn visit_item_struct(&mut self, item: &syn::ItemStruct) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_enum(&mut self, item: &syn::ItemEnum) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_trait(&mut self, item: &syn::ItemTrait) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_type(&mut self, item: &syn::ItemType) {
        self.add(&item.vis, &item.ident);
    }

    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    /// What `named!` declares is public.
    fn visit_item_macro(&mut self, item: &syn::ItemMacro) {
        if item.mac.path.is_ident("named") {
            let tokens = item.mac.tokens.clone().into_iter();
            let mut after = tokens.skip_while(|token| !matches!(token, TokenTree::Ident(ident) if ident == "enum"));
            self.0.push(after.nth(1).unwrap().to_string());
        }
    }
}

#[test]
fn every_file_begins_with_a_module_comment() {
    let missing: Vec<_> = files_below(&src(), ".rs")
        .into_iter()
        .chain(files_below(&project().join("crates"), ".rs"))
        .filter(|file| !fs::read_to_string(file).unwrap().starts_with("//!"))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_check_sees_every_way_to_name_a_module() {
    let code = r#"
        use crate::{api::{self, state::AppState}, domain::id};
        use super::super::config as settings;
        use axum::Router as Routes;
        fn f(x: crate::service::tokens::Tokens) -> Option<tokio::time::Instant> {
            let _: super::users::Users = self::g();
            println!("{}", crate::app::name());
            quick_cache::sync::Cache::new(1)
        }
        #[derive(utoipa::ToSchema)]
        struct S;
        mod inner { use super::super::audit; }
        #[cfg(test)]
        mod tests { use crate::cli; }
    "#;
    let module = ["storage", "tokens"].map(str::to_owned);
    let found: BTreeSet<String> = paths_in(code, &module).into_iter().map(|path| path.join("::")).collect();
    for expected in [
        "crate::api",
        "crate::api::state::AppState",
        "crate::domain::id",
        "crate::config",
        "axum::Router",
        "crate::service::tokens::Tokens",
        "tokio::time::Instant",
        "crate::storage::users::Users",
        "crate::app::name",
        "quick_cache::sync::Cache::new",
        "utoipa::ToSchema",
        "crate::storage::audit",
    ] {
        assert!(found.contains(expected), "{expected} is missing in {found:#?}");
    }
    assert!(!found.contains("crate::cli"), "tests may use everything");
}

fn src() -> PathBuf {
    project().join("src")
}

/// The files of a part of the library, each with the paths that its code names, tests aside.
fn paths_of(part: &str) -> Vec<(PathBuf, Vec<Vec<String>>)> {
    let (file, folder) = (src().join(format!("{part}.rs")), src().join(part));
    let mut files = if folder.exists() { files_below(&folder, ".rs") } else { Vec::new() };
    files.extend(file.exists().then_some(file));
    assert!(!files.is_empty(), "there is no {part}");
    files.into_iter().map(with_paths).collect()
}

/// The same of the files in a folder.
fn paths_below(folder: &Path) -> Vec<(PathBuf, Vec<Vec<String>>)> {
    files_below(folder, ".rs").into_iter().map(with_paths).collect()
}

fn with_paths(file: PathBuf) -> (PathBuf, Vec<Vec<String>>) {
    let found = paths_in(&fs::read_to_string(&file).unwrap(), &module_of(&file));
    (file, found)
}

/// The module path of a file in its crate: `src/service/ledger/mod.rs` is `["service", "ledger"]`.
fn module_of(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(project()).unwrap().with_extension("");
    let parts = inside.iter().map(|part| part.to_str().unwrap().to_owned());
    let mut module: Vec<String> = parts.skip_while(|part| part != "src").skip(1).collect();
    if module.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        module.pop();
    }
    module
}

/// Every path that the code names, from the root of the crate (`crate::…`) or from another crate.
fn paths_in(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut paths = Paths { module: module.to_vec(), found: Vec::new() };
    paths.visit_file(&syn::parse_file(code).unwrap());
    paths.found
}

/// Whether an item is compiled for tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg") && attribute.meta.require_list().unwrap().tokens.to_string() == "test"
    })
}

struct Paths {
    /// The module that is being read.
    module: Vec<String>,
    found: Vec<Vec<String>>,
}

impl Paths {
    /// Adds a path, with `self` and `super` resolved.
    fn add(&mut self, path: &[String]) {
        let mut base: Vec<String> = std::iter::once("crate".to_owned()).chain(self.module.clone()).collect();
        let mut rest = path;
        match rest.first().map(String::as_str) {
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            _ => base.clear(),
        }
        base.extend(rest.iter().cloned());
        self.found.push(base);
    }

    fn add_use(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.add_use(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) if name.ident == "self" => self.add(before),
            syn::UseTree::Name(name) => self.add(&with(&name.ident)),
            syn::UseTree::Rename(rename) => self.add(&with(&rename.ident)),
            syn::UseTree::Glob(_) => self.add(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(before, tree)),
        }
    }

    /// The arguments of a macro are not syntax yet: paths are identifiers with `::` between them.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if path.is_empty() || colons == 2 => {
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && colons < 2 && !path.is_empty() => colons += 1,
                other => {
                    self.end_path(&mut path);
                    colons = 0;
                    match other {
                        TokenTree::Ident(ident) => path.push(ident.to_string()),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                    }
                }
            }
        }
        self.end_path(&mut path);
    }

    fn end_path(&mut self, path: &mut Vec<String>) {
        let path = std::mem::take(path);
        if path.len() > 1 {
            self.add(&path);
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if is_test(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_use(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.add(&segments);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.add_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
        }
        visit::visit_attribute(self, attribute);
    }
}
