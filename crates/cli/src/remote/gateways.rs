//! `keymeter gateway …` on a server. For administrators.

use serde::Deserialize;
use serde_json::json;

use super::Remote;
use super::list_options::ListOptions;
use super::named::{GATEWAYS, Named};
use super::terminal::{Table, time};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};

#[derive(Deserialize)]
struct Gateway {
    id: i64,
    name: String,
    credential: Option<String>,
    credentials: Vec<Credential>,
}

#[derive(Deserialize)]
struct Credential {
    id: i64,
    hint: String,
    created_time: i64,
    last_used_time: Option<i64>,
    #[serde(rename = "credential")]
    secret: Option<String>,
}

impl Remote {
    pub fn create_gateway(&self, name: &str) -> Result<(), CommandFailure> {
        let data = self.client.post("/api/admin/gateways", &json!({ "name": name }))?;
        self.show(&data, |gateway: Gateway| {
            let secret = gateway.credential.unwrap_or_default();
            print_error(&format!("created the gateway {}; its credential is shown only this once", gateway.id));
            print_line(&secret);
        })
    }

    pub fn list_gateways(&self, options: &ListOptions) -> Result<(), CommandFailure> {
        let entries = self.array("/api/admin/gateways", &[])?;
        self.print_entries(&entries, options, "gateways", |gateways: Vec<Gateway>| {
            let mut table = Table::new(&["ID", "NAME", "CREDENTIAL", "ENDS WITH", "CREATED", "LAST USED"]);
            for gateway in gateways {
                for credential in gateway.credentials {
                    table.row(vec![
                        gateway.id.to_string(),
                        gateway.name.clone(),
                        credential.id.to_string(),
                        format!("…{}", credential.hint),
                        time(credential.created_time),
                        credential.last_used_time.map_or_else(|| "never".to_owned(), time),
                    ]);
                }
            }
            table
        })
    }

    pub fn revoke_gateway(&self, gateway: &Named) -> Result<(), CommandFailure> {
        let found = self.find(&GATEWAYS, gateway)?;
        let data = self.client.delete(&format!("/api/admin/gateways/{}", found.id))?;
        self.done(&data, &format!("revoked the gateway {found}"));
        Ok(())
    }

    pub fn create_credential(&self, gateway: &Named) -> Result<(), CommandFailure> {
        let found = self.find(&GATEWAYS, gateway)?;
        let data = self.client.post(&format!("/api/admin/gateways/{}/credentials", found.id), &json!({}))?;
        self.show(&data, |made: Credential| {
            let (id, secret) = (made.id, made.secret.unwrap_or_default());
            print_error(&format!("created the credential {id} of the gateway {found}; it is shown only this once"));
            print_line(&secret);
        })
    }

    pub fn revoke_credential(&self, gateway: &Named, id: i64) -> Result<(), CommandFailure> {
        let found = self.find(&GATEWAYS, gateway)?;
        let data = self.client.delete(&format!("/api/admin/gateways/{}/credentials/{id}", found.id))?;
        self.done(&data, &format!("revoked the credential {id} of the gateway {found}"));
        Ok(())
    }
}
